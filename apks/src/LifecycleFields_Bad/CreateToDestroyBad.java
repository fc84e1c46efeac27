package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class CreateToDestroyBad extends Activity {
    private String text;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    protected void onDestroy() {
        Log.i("sample", text);
        super.onDestroy();
    }
}
