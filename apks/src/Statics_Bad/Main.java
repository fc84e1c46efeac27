package org.gdroid.samples.statics;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        StaticBad.run(imei);
        OverwrittenStaticOk.run(imei);
        OtherStaticOk.run(imei);
        StaticObjectBad.run(imei);
        StaticThroughCalleeBad.run(imei);
        StaticArrayBad.run(imei);
    }
}

class StaticBad {
    static String text;

    static void run(String imei) {
        text = imei;
        Log.i("sample", text);
    }
}

class OverwrittenStaticOk {
    static String text;

    static void run(String imei) {
        text = imei;
        text = "none";
        Log.i("sample", text);
    }
}

class OtherStaticOk {
    static String text;
    static String other = "none";

    static void run(String imei) {
        text = imei;
        Log.i("sample", other);
    }
}

class StaticObjectBad {
    static final StringBuilder BUFFER = new StringBuilder();

    static void run(String imei) {
        BUFFER.append(imei);
        Log.i("sample", BUFFER.toString());
    }
}

class StaticThroughCalleeBad {
    static String text;

    static void store(String value) {
        text = value;
    }

    static String load() {
        return text;
    }

    static void run(String imei) {
        store(imei);
        Log.i("sample", load());
    }
}

class StaticArrayBad {
    static final String[] TEXTS = new String[2];

    static void run(String imei) {
        TEXTS[1] = imei;
        Log.i("sample", TEXTS[1]);
    }
}
