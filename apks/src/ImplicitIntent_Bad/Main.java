package org.gdroid.samples.implicitintent;

import android.app.Activity;
import android.content.Context;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.telephony.TelephonyManager;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        StartActivityBad.run(this, imei);
        BroadcastBad.run(this, imei);
        NoExtraOk.run(this, imei);
        CleanExtraOk.run(this, imei);
        OwnComponentOk.run(this, imei);
        BundleExtraBad.run(this, imei);
        UriBad.run(this, imei);
    }
}

/** i.putExtra(k,imei); startActivity(i). */
class StartActivityBad {
    static void run(Context context, String imei) {
        Intent i = new Intent("org.gdroid.SHOW");
        i.putExtra("id", imei);
        context.startActivity(i);
    }
}

class BroadcastBad {
    static void run(Context context, String imei) {
        Intent i = new Intent();
        i.setAction("org.gdroid.NEWS");
        i.putExtra("id", imei);
        context.sendBroadcast(i);
    }
}

class NoExtraOk {
    static void run(Context context, String imei) {
        Intent i = new Intent("org.gdroid.SHOW");
        context.startActivity(i);
    }
}

class CleanExtraOk {
    static void run(Context context, String imei) {
        Intent i = new Intent("org.gdroid.SHOW");
        i.putExtra("id", imei);
        i = new Intent("org.gdroid.SHOW");
        i.putExtra("id", "none");
        context.startActivity(i);
    }
}

/** Stays in the app: the receiving activity does nothing with it. */
class OwnComponentOk {
    static void run(Context context, String imei) {
        Intent i = new Intent(context, Quiet.class);
        i.putExtra("id", imei);
        context.startActivity(i);
    }
}

class BundleExtraBad {
    static void run(Context context, String imei) {
        Bundle bundle = new Bundle();
        bundle.putString("id", imei);
        Intent i = new Intent("org.gdroid.SHOW");
        i.putExtras(bundle);
        context.startActivity(i);
    }
}

class UriBad {
    static void run(Context context, String imei) {
        Intent i = new Intent(Intent.ACTION_VIEW, Uri.parse("https://example.org/?id=" + imei));
        context.startActivity(i);
    }
}
