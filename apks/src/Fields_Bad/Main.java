package org.gdroid.samples.fields;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        FieldBad.run(imei);
        SiblingFieldOk.run(imei);
        OtherObjectOk.run(imei);
        NestedFieldBad.run(imei);
        NestedSiblingOk.run(imei);
        InheritedFieldBad.run(imei);
        WideFieldBad.run(imei);
        NarrowFieldsBad.run(imei);
        ShadowedFieldOk.run(imei);
    }
}

class Pair {
    String first;
    String second;
    Pair inner;
    long number;
    boolean flag;
    byte small;
    char letter;
    short medium;
}

class FieldBad {
    static void run(String imei) {
        Pair pair = new Pair();
        pair.first = imei;
        Log.i("sample", pair.first);
    }
}

class SiblingFieldOk {
    static void run(String imei) {
        Pair pair = new Pair();
        pair.first = imei;
        pair.second = "none";
        Log.i("sample", pair.second);
    }
}

class OtherObjectOk {
    static void run(String imei) {
        Pair one = new Pair();
        Pair two = new Pair();
        one.first = imei;
        two.first = "none";
        Log.i("sample", two.first);
    }
}

class NestedFieldBad {
    static void run(String imei) {
        Pair outer = new Pair();
        outer.inner = new Pair();
        outer.inner.inner = new Pair();
        outer.inner.inner.second = imei;
        Pair deep = outer.inner.inner;
        Log.i("sample", deep.second);
    }
}

class NestedSiblingOk {
    static void run(String imei) {
        Pair outer = new Pair();
        outer.inner = new Pair();
        outer.inner.inner = new Pair();
        outer.inner.inner.second = imei;
        outer.inner.second = "none";
        Log.i("sample", outer.inner.second);
    }
}

class InheritedFieldBad {
    static class Child extends Pair {}

    static void run(String imei) {
        Child child = new Child();
        child.first = imei;
        Pair same = child;
        Log.i("sample", same.first);
    }
}

class WideFieldBad {
    static void run(String imei) {
        Pair pair = new Pair();
        pair.number = Long.parseLong(imei);
        Log.i("sample", Long.toString(pair.number));
    }
}

class NarrowFieldsBad {
    static void run(String imei) {
        Pair pair = new Pair();
        pair.letter = imei.charAt(0);
        pair.small = (byte) pair.letter;
        pair.medium = pair.small;
        pair.flag = pair.medium != 0;
        Log.i("sample", String.valueOf(pair.medium));
    }
}

/** Two fields of one name: the child's hides the parent's. */
class ShadowedFieldOk {
    static class Parent {
        String text = "none";
    }

    static class Child extends Parent {
        String text;
    }

    static void run(String imei) {
        Child child = new Child();
        child.text = imei;
        Log.i("sample", ((Parent) child).text);
    }
}
