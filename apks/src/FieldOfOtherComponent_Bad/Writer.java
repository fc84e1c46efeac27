package org.gdroid.samples.fieldofothercomponent;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.telephony.TelephonyManager;

public class Writer extends Service {
    @Override
    public int onStartCommand(Intent intent, int flags, int id) {
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        if (Hub.main != null) {
            Hub.main.text = imei;
        }
        Hub.shared = imei;
        return START_NOT_STICKY;
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }
}
