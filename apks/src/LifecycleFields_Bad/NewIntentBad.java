package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class NewIntentBad extends Activity {
    private String text;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    protected void onNewIntent(Intent intent) {
        Log.i("sample", text);
    }
}
