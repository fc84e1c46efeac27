package org.gdroid.samples.multidex;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        FarBad.run(imei);
        FarBox box = new FarBox();
        box.set(imei);
        NearBad.run(box);
        NearOk.run(box);
    }
}
