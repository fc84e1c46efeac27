package org.gdroid.samples.explicitintent;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        Intent toActivity = new Intent(this, ShownBad.class);
        toActivity.putExtra("id", imei);
        toActivity.putExtra("name", "none");
        startActivity(toActivity);

        Intent toService = new Intent();
        toService.setClassName(getPackageName(), "org.gdroid.samples.explicitintent.ServedBad");
        toService.putExtra("id", imei);
        startService(toService);

        Intent clean = new Intent(this, CleanOk.class);
        clean.putExtra("id", "none");
        startActivity(clean);
    }
}

class OtherKeyOk {
    static void run(Intent intent) {
        Log.i("sample", intent.getStringExtra("name"));
    }
}
