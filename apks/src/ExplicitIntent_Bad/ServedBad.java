package org.gdroid.samples.explicitintent;

import android.app.Service;
import android.content.Intent;
import android.os.IBinder;
import android.util.Log;

public class ServedBad extends Service {
    @Override
    public int onStartCommand(Intent intent, int flags, int id) {
        Log.i("sample", intent.getStringExtra("id"));
        return START_NOT_STICKY;
    }

    @Override
    public IBinder onBind(Intent intent) {
        return null;
    }
}
