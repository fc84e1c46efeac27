package org.gdroid.samples.layoutonclick;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.SmsManager;
import android.telephony.TelephonyManager;
import android.view.View;

public class Main extends Activity {
    private String text = "none";

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        setContentView(R.layout.main);
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    /** Named by the layout. */
    public void send(View view) {
        SentBad.run(text);
    }

    /** Of the same shape, but nothing names it. */
    public void forgotten(View view) {
        ForgottenOk.run(text);
    }
}

class SentBad {
    static void run(String text) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, text, null, null);
    }
}

class ForgottenOk {
    static void run(String text) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, text, null, null);
    }
}
