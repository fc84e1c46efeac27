package org.gdroid.samples.services;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.telephony.TelephonyManager;
import android.util.Log;

/** A service in the manifest that another app may start. */
public class BoundBad extends Service {
    @Override
    public IBinder onBind(Intent intent) {
        Log.i("sample", ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId());
        return null;
    }
}
