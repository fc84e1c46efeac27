package org.gdroid.samples.receivers;

import android.app.Activity;
import android.content.IntentFilter;
import android.os.Bundle;
import android.telephony.TelephonyManager;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        RegisteredBad receiver = new RegisteredBad();
        receiver.text = imei;
        registerReceiver(receiver, new IntentFilter("org.gdroid.NEWS"));
        NeverRegisteredOk other = new NeverRegisteredOk();
        other.text = imei;
    }
}
