package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.telephony.TelephonyManager;
import android.util.Log;

public class StopToRestartBad extends Activity {
    private String text = "none";

    @Override
    protected void onRestart() {
        super.onRestart();
        Log.i("sample", text);
    }

    @Override
    protected void onStop() {
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        super.onStop();
    }
}
