package org.gdroid.samples.services;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.telephony.TelephonyManager;
import android.util.Log;

public class StartedBad extends Service {
    @Override
    public int onStartCommand(Intent intent, int flags, int id) {
        Log.i("sample", ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId());
        return START_STICKY;
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }
}
