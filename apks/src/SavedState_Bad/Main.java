package org.gdroid.samples.savedstate;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    private String text;

    @Override
    protected void onStart() {
        super.onStart();
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    protected void onSaveInstanceState(Bundle state) {
        super.onSaveInstanceState(state);
        state.putString("id", text);
        state.putString("name", "none");
    }

    @Override
    protected void onRestoreInstanceState(Bundle state) {
        super.onRestoreInstanceState(state);
        RestoredBad.run(state);
        OtherKeyOk.run(state);
    }
}

class RestoredBad {
    static void run(Bundle state) {
        Log.i("sample", state.getString("id"));
    }
}

class OtherKeyOk {
    static void run(Bundle state) {
        Log.i("sample", state.getString("name"));
    }
}
