package org.gdroid.samples.services;

import android.app.IntentService;
import android.content.Intent;
import android.telephony.TelephonyManager;
import android.util.Log;

public class QueuedBad extends IntentService {
    private String text;

    public QueuedBad() {
        super("queued");
    }

    @Override
    public void onCreate() {
        super.onCreate();
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    protected void onHandleIntent(Intent intent) {
        Log.i("sample", text);
    }
}
