package org.gdroid.samples.aliasthenstore;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        LocalAliasBad.run(imei);
        FieldAliasBad.run(imei);
        AliasThenCleanOk.run(imei);
        ArrayAliasBad.run(imei);
        ReturnedAliasBad.run(imei);
        BrokenAliasOk.run(imei);
        StaticAliasBad.run(imei);
        CalleeStoresAliasBad.run(imei);
        SelfReferenceBad.run(imei);
    }
}

class Box {
    String text = "none";
    Box next;

    Box self() {
        return this;
    }
}

class LocalAliasBad {
    static void run(String imei) {
        Box a = new Box();
        Box b = a;
        b.text = imei;
        Log.i("sample", a.text);
    }
}

/** Two holders of one object: stored through one, read through the other. */
class FieldAliasBad {
    static void run(String imei) {
        Box shared = new Box();
        Box one = new Box();
        Box two = new Box();
        one.next = shared;
        two.next = shared;
        one.next.text = imei;
        Log.i("sample", two.next.text);
    }
}

class AliasThenCleanOk {
    static void run(String imei) {
        Box a = new Box();
        Box b = a;
        a.text = imei;
        b.text = "none";
        Log.i("sample", a.text);
    }
}

class ArrayAliasBad {
    static void run(String imei) {
        Box[] boxes = new Box[1];
        Box a = new Box();
        boxes[0] = a;
        boxes[0].text = imei;
        Log.i("sample", a.text);
    }
}

class ReturnedAliasBad {
    static void run(String imei) {
        Box a = new Box();
        a.self().text = imei;
        Log.i("sample", a.text);
    }
}

/** The alias is given up before the store. */
class BrokenAliasOk {
    static void run(String imei) {
        Box a = new Box();
        Box b = a;
        b = new Box();
        b.text = imei;
        Log.i("sample", a.text);
    }
}

class StaticAliasBad {
    static Box global;

    static void run(String imei) {
        Box a = new Box();
        global = a;
        global.text = imei;
        Log.i("sample", a.text);
    }
}

/** The callee makes the alias, the caller stores afterwards. */
class CalleeStoresAliasBad {
    static void link(Box from, Box to) {
        from.next = to;
    }

    static void run(String imei) {
        Box a = new Box();
        Box b = new Box();
        link(a, b);
        b.text = imei;
        Log.i("sample", a.next.text);
    }
}

class SelfReferenceBad {
    static void run(String imei) {
        Box a = new Box();
        a.next = a;
        a.text = imei;
        Log.i("sample", a.next.next.next.next.next.text);
    }
}
