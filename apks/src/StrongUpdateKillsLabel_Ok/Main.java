package org.gdroid.samples.strongupdatekillslabel;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        StoreOk.run(imei);
        CalleeOk.run(imei);
        BothBranchesOk.run(imei, state == null);
        ResetOk.run(imei);
    }
}

class Box {
    String text;

    void set(String value) {
        text = value;
    }

    String get() {
        return text;
    }
}

class StoreOk {
    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        box.text = "none";
        Log.i("sample", box.text);
    }
}

/** The callee overwrites the field on every path. */
class CalleeOk {
    static void run(String imei) {
        Box box = new Box();
        box.set(imei);
        box.set("none");
        Log.i("sample", box.get());
    }
}

class BothBranchesOk {
    static void run(String imei, boolean choice) {
        Box box = new Box();
        box.text = imei;
        if (choice) {
            box.text = "one";
        } else {
            box.text = "two";
        }
        Log.i("sample", box.text);
    }
}

class ResetOk {
    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        box = new Box();
        box.text = "none";
        Log.i("sample", box.text);
    }
}
