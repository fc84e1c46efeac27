package org.gdroid.samples.receivers;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.telephony.TelephonyManager;
import android.util.Log;

/** A receiver's object lives for one call only. */
public class FieldAcrossCallsOk extends BroadcastReceiver {
    private String text = "none";

    @Override
    public void onReceive(Context context, Intent intent) {
        Log.i("sample", text);
        text = ((TelephonyManager) context.getSystemService(Context.TELEPHONY_SERVICE)).getDeviceId();
    }
}
