package org.gdroid.samples.receivers;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.util.Log;

public class NeverRegisteredOk extends BroadcastReceiver {
    String text;

    @Override
    public void onReceive(Context context, Intent intent) {
        Log.i("sample", text);
    }
}
