package org.gdroid.samples.recursion;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        SelfBad.run(imei);
        MutualBad.run(imei);
        FieldBad.run(imei);
        ConstantResultOk.run(imei);
        GrowingTextBad.run(imei);
        BuiltByRecursionBad.run(imei);
        SinkInsideBad.deep(imei, 3);
        StaticCounterOk.run(imei);
    }
}

class SelfBad {
    static String deep(String text, int n) {
        return n == 0 ? text : deep(text, n - 1);
    }

    static void run(String imei) {
        Log.i("sample", deep(imei, 5));
    }
}

class MutualBad {
    static String even(String text, int n) {
        return n == 0 ? text : odd(text, n - 1);
    }

    static String odd(String text, int n) {
        return n == 0 ? "odd" : even(text, n - 1);
    }

    static void run(String imei) {
        Log.i("sample", even(imei, 4));
    }
}

class FieldBad {
    String text = "none";

    void store(String value, int n) {
        if (n == 0) {
            text = value;
        } else {
            store(value, n - 1);
        }
    }

    static void run(String imei) {
        FieldBad box = new FieldBad();
        box.store(imei, 3);
        Log.i("sample", box.text);
    }
}

class ConstantResultOk {
    static String deep(String text, int n) {
        if (n == 0) {
            return "none";
        }
        String ignored = deep(text + n, n - 1);
        return ignored;
    }

    static void run(String imei) {
        Log.i("sample", deep(imei, 5));
    }
}

class GrowingTextBad {
    static String grow(String text, String part, int n) {
        return n == 0 ? text : grow(text + part, "-", n - 1);
    }

    static void run(String imei) {
        Log.i("sample", grow("", imei, 3));
    }
}

/** A chain of objects made by a recursive method; the last one holds the data. */
class BuiltByRecursionBad {
    BuiltByRecursionBad next;
    String text = "none";

    static BuiltByRecursionBad build(String text, int n) {
        BuiltByRecursionBad node = new BuiltByRecursionBad();
        if (n == 0) {
            node.text = text;
        } else {
            node.next = build(text, n - 1);
        }
        return node;
    }

    static void run(String imei) {
        BuiltByRecursionBad node = build(imei, 6);
        while (node.next != null) {
            node = node.next;
        }
        Log.i("sample", node.text);
    }
}

class SinkInsideBad {
    static void deep(String text, int n) {
        if (n == 0) {
            Log.i("sample", text);
        } else {
            deep(text, n - 1);
        }
    }
}

class StaticCounterOk {
    static int count;

    static void deep(String text) {
        if (count++ < 5) {
            deep(text);
        }
    }

    static void run(String imei) {
        deep(imei);
        Log.i("sample", String.valueOf(count));
    }
}
