package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

/** The next object of the class finds what the last one left in the static field. */
public class StaticAcrossRunsBad extends Activity {
    private static String text = "none";

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
