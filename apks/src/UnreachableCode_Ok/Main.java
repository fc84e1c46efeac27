package org.gdroid.samples.unreachablecode;

import android.app.Activity;
import android.content.Context;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        AfterThrowOk.run(imei);
        DeadMethodOk.touch();
    }
}

class AfterThrowOk {
    static void fail() {
        throw new IllegalStateException();
    }

    static void run(String imei) {
        try {
            fail();
            Log.i("sample", imei);
        } catch (IllegalStateException e) {
            return;
        }
    }
}

class DeadMethodOk {
    static void touch() {}

    static void never(Context context) {
        Log.i("sample", ((TelephonyManager) context.getSystemService(Context.TELEPHONY_SERVICE)).getDeviceId());
    }
}
