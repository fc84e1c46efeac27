package org.gdroid.samples.movesandcasts;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        CastBad.run(imei);
        ChoiceBad.run(imei, state == null);
        OverwrittenLocalOk.run(imei);
        NullOk.run(imei);
        InstanceOfOk.run(imei);
        ConstClassOk.run(imei);
        BadCastOk.run(imei);
    }
}

class CastBad {
    static void run(Object imei) {
        Object other = imei;
        String text = (String) other;
        Log.i("sample", text);
    }
}

class ChoiceBad {
    static void run(String imei, boolean choice) {
        String text = choice ? imei : "none";
        Log.i("sample", text);
    }
}

class OverwrittenLocalOk {
    static void run(String imei) {
        String text = imei;
        text = "none";
        Log.i("sample", text);
    }
}

class NullOk {
    static void run(String imei) {
        String text = imei;
        if (text.length() > 3) {
            text = null;
            Log.i("sample", text);
        }
    }
}

class InstanceOfOk {
    static void run(Object imei) {
        boolean isText = imei instanceof String;
        Log.i("sample", String.valueOf(isText));
    }
}

class ConstClassOk {
    static void run(String imei) {
        Class<?> type = ConstClassOk.class;
        Log.i("sample", type.getName());
    }
}

/** The box is never a Special, so that the cast throws before the leak. */
class BadCastOk {
    static class Box {
        String text;
    }

    static class Special extends Box {}

    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        Special special = (Special) box;
        Log.i("sample", special.text);
    }
}
