package org.gdroid.samples.unreachablecode;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

/** In no manifest. */
public class UnlistedActivityOk extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Log.i("sample", ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId());
    }
}
