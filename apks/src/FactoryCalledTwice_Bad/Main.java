package org.gdroid.samples.factorycalledtwice;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        TwoObjectsOk.run(imei);
        TheLabelledOneBad.run(imei);
        TwoLevelsBad.run(imei);
        TwoLevelsOk.run(imei);
        SetterOnEachOk.run(imei);
        SingletonBad.run(imei);
    }
}

class Box {
    String text = "none";

    static Box make() {
        return new Box();
    }

    static Box left() {
        return make();
    }

    static Box right() {
        return make();
    }

    void set(String value) {
        text = value;
    }

    String get() {
        return text;
    }
}

/** One allocation site, called twice: two objects. */
class TwoObjectsOk {
    static void run(String imei) {
        Box a = Box.make();
        Box b = Box.make();
        a.text = imei;
        Log.i("sample", b.text);
    }
}

class TheLabelledOneBad {
    static void run(String imei) {
        Box a = Box.make();
        Box b = Box.make();
        a.text = imei;
        b.text = "none";
        Log.i("sample", a.text);
    }
}

/** f(){h()} g(){h()}: h's object twice. The second store must not clean the first object. */
class TwoLevelsBad {
    static void run(String imei) {
        Box a = Box.left();
        Box b = Box.right();
        a.text = imei;
        b.text = "none";
        Log.i("sample", a.text);
    }
}

class TwoLevelsOk {
    static void run(String imei) {
        Box a = Box.left();
        Box b = Box.right();
        a.text = imei;
        Log.i("sample", b.text);
    }
}

class SetterOnEachOk {
    static void run(String imei) {
        Box a = new Box();
        Box b = new Box();
        a.set(imei);
        b.set("none");
        Log.i("sample", b.get());
    }
}

class SingletonBad {
    private static SingletonBad instance;
    private String text;

    static SingletonBad instance() {
        if (instance == null) {
            instance = new SingletonBad();
        }
        return instance;
    }

    static void run(String imei) {
        instance().text = imei;
        Log.i("sample", instance().text);
    }
}
