package org.gdroid.samples.parametersalias;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        LastStoreWinsBad.run(imei);
        ReadBetweenStoresBad.run(imei);
        OldValueOk.run(imei);
        LabelledParameterBad.run(imei);
        SeparateParametersOk.run(imei);
        StoredThroughOneBad.run(imei);
        SwappedBad.run(imei);
        ThroughThisBad.run(imei);
    }
}

class Box {
    String text = "none";
    Box next;

    /** `this` and the parameter may be one object. */
    String mix(Box other, String value) {
        other.text = value;
        return text;
    }
}

/** T m(T p,T q){ p.f=A; q.f=B; return p.f; }  m(o,o): B. */
class LastStoreWinsBad {
    static String m(Box p, Box q, String a, String b) {
        p.text = a;
        q.text = b;
        return p.text;
    }

    static void run(String imei) {
        Box o = new Box();
        Log.i("sample", m(o, o, "a", imei));
    }
}

/** T m(T p,T q){ q.f=b; y=p.f; q.f=c; return y; }  m(o,o): b. */
class ReadBetweenStoresBad {
    static String m(Box p, Box q, String b, String c) {
        q.text = b;
        String y = p.text;
        q.text = c;
        return y;
    }

    static void run(String imei) {
        Box o = new Box();
        Log.i("sample", m(o, o, imei, "c"));
    }
}

/** T m(T p){ old=p.f; p.f=src; return old; }  m(o): no label. */
class OldValueOk {
    static String m(Box p, String value) {
        String old = p.text;
        p.text = value;
        return old;
    }

    static void run(String imei) {
        Log.i("sample", m(new Box(), imei));
    }
}

/** Object m(T p){ return p.f; }  m(object whose field has the label). */
class LabelledParameterBad {
    static String m(Box p) {
        return p.text;
    }

    static void run(String imei) {
        Box o = new Box();
        o.text = imei;
        Log.i("sample", m(o));
    }
}

class SeparateParametersOk {
    static String m(Box p, Box q, String value) {
        p.text = value;
        return q.text;
    }

    static void run(String imei) {
        Log.i("sample", m(new Box(), new Box(), imei));
    }
}

class StoredThroughOneBad {
    static void m(Box p, Box q, String value) {
        p.next.text = value;
        q.next.next = null;
    }

    static void run(String imei) {
        Box a = new Box();
        Box b = new Box();
        a.next = new Box();
        b.next = a.next;
        m(a, b, imei);
        Log.i("sample", b.next.text);
    }
}

class SwappedBad {
    static void swap(Box p, Box q) {
        String keep = p.text;
        p.text = q.text;
        q.text = keep;
    }

    static void run(String imei) {
        Box a = new Box();
        Box b = new Box();
        a.text = imei;
        swap(a, b);
        Log.i("sample", b.text);
    }
}

class ThroughThisBad {
    static void run(String imei) {
        Box a = new Box();
        Log.i("sample", a.mix(a, imei));
    }
}
