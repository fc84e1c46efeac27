package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class ClearedBeforeUseOk extends Activity {
    private String text;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    protected void onStart() {
        super.onStart();
        text = "none";
    }

    @Override
    protected void onResume() {
        super.onResume();
        Log.i("sample", text);
    }
}
