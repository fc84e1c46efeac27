package org.gdroid.samples.services;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.telephony.TelephonyManager;
import android.util.Log;

public class FieldBad extends Service {
    private String text;

    @Override
    public void onCreate() {
        super.onCreate();
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }

    @Override
    public void onDestroy() {
        Log.i("sample", text);
        super.onDestroy();
    }
}
