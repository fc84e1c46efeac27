package org.gdroid.samples.switches;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        PackedBad.run(imei, imei.length());
        SparseBad.run(imei, imei.length());
        ConstantArmOk.run(imei);
        ConstantArmBad.run(imei);
        StringSwitchBad.run(imei, String.valueOf(state));
        FallThroughBad.run(imei, imei.length());
        AllArmsOverwriteOk.run(imei, imei.length());
        EnumSwitchBad.run(imei, Kind.values()[imei.length() & 1]);
    }
}

class PackedBad {
    static void run(String imei, int n) {
        String text;
        switch (n) {
            case 1:
                text = "one";
                break;
            case 2:
                text = imei;
                break;
            case 3:
                text = "three";
                break;
            default:
                text = "many";
        }
        Log.i("sample", text);
    }
}

class SparseBad {
    static void run(String imei, int n) {
        String text = "none";
        switch (n) {
            case -5000:
                text = "one";
                break;
            case 70000:
                text = imei;
                break;
            case 1:
                text = "three";
                break;
        }
        Log.i("sample", text);
    }
}

/** A switch on a constant: one arm is never reached. */
class ConstantArmOk {
    static void run(String imei) {
        int n = 2;
        String text = "none";
        switch (n) {
            case 1:
                text = imei;
                break;
            case 2:
                text = "two";
                break;
        }
        Log.i("sample", text);
    }
}

class ConstantArmBad {
    static void run(String imei) {
        int n = 1;
        String text = "none";
        switch (n) {
            case 1:
                text = imei;
                break;
            case 2:
                text = "two";
                break;
        }
        Log.i("sample", text);
    }
}

class StringSwitchBad {
    static void run(String imei, String key) {
        String text = "none";
        switch (key) {
            case "null":
                text = imei;
                break;
            case "other":
                text = "other";
                break;
        }
        Log.i("sample", text);
    }
}

class FallThroughBad {
    static void run(String imei, int n) {
        String text = "none";
        switch (n) {
            case 15:
                text = imei;
            case 16:
                Log.i("sample", text);
        }
    }
}

class AllArmsOverwriteOk {
    static void run(String imei, int n) {
        String text = imei;
        switch (n) {
            case 1:
                text = "one";
                break;
            case 2:
                text = "two";
                break;
            default:
                text = "many";
        }
        Log.i("sample", text);
    }
}

enum Kind {
    CLEAN,
    LABELLED
}

class EnumSwitchBad {
    static void run(String imei, Kind kind) {
        String text = "none";
        switch (kind) {
            case CLEAN:
                text = "clean";
                break;
            case LABELLED:
                text = imei;
                break;
        }
        Log.i("sample", text);
    }
}
