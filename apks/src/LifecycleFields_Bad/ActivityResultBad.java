package org.gdroid.samples.lifecyclefields;

import android.app.Activity;
import android.content.Intent;
import android.telephony.TelephonyManager;
import android.util.Log;

public class ActivityResultBad extends Activity {
    private String text;

    @Override
    protected void onStart() {
        super.onStart();
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        startActivityForResult(new Intent("org.gdroid.PICK"), 1);
    }

    @Override
    protected void onActivityResult(int request, int result, Intent data) {
        Log.i("sample", text);
    }
}
