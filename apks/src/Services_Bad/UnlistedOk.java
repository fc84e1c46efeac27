package org.gdroid.samples.services;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.telephony.TelephonyManager;
import android.util.Log;

/** Not in the manifest: it can never run. */
public class UnlistedOk extends Service {
    @Override
    public IBinder onBind(Intent intent) {
        Log.i("sample", ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId());
        return null;
    }
}
