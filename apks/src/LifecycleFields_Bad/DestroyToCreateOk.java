package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

/** A destroyed activity is never created again. */
public class DestroyToCreateOk extends Activity {
    private String text = "none";

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Log.i("sample", text);
    }

    @Override
    protected void onDestroy() {
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        super.onDestroy();
    }
}
