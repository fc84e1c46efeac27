package org.gdroid.samples.unreachablecode;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

/** Disabled in the manifest, and nothing enables it. */
public class DisabledActivityOk extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Log.i("sample", ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId());
    }
}
