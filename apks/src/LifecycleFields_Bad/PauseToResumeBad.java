package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.telephony.TelephonyManager;
import android.util.Log;

/** onPause, then onResume of the same activity. */
public class PauseToResumeBad extends Activity {
    private String text = "none";

    @Override
    protected void onResume() {
        super.onResume();
        Log.i("sample", text);
    }

    @Override
    protected void onPause() {
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        super.onPause();
    }
}
