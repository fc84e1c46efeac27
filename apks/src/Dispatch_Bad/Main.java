package org.gdroid.samples.dispatch;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        VirtualOk.run(imei);
        VirtualBad.run(imei);
        EitherTypeBad.run(imei, state == null);
        InterfaceFieldOk.run(imei);
        NotOverriddenBad.run(imei);
        NeverCreatedOk.run(imei);
        AbstractBad.run(imei);
        InstanceOfOk.run(imei);
    }
}

abstract class Shape {
    abstract String name(String text);
}

class Round extends Shape {
    @Override
    String name(String text) {
        return "round";
    }
}

class Square extends Shape {
    @Override
    String name(String text) {
        return text;
    }
}

class VirtualOk {
    static void run(String imei) {
        Shape shape = new Round();
        Log.i("sample", shape.name(imei));
    }
}

class VirtualBad {
    static void run(String imei) {
        Shape shape = new Square();
        Log.i("sample", shape.name(imei));
    }
}

class EitherTypeBad {
    static void run(String imei, boolean choice) {
        Shape shape = choice ? new Round() : new Square();
        Log.i("sample", shape.name(imei));
    }
}

/** Both types are created, and each sits in a field of its own. */
class InterfaceFieldOk {
    interface Namer {
        String name(String text);
    }

    static class Fixed implements Namer {
        @Override
        public String name(String text) {
            return "fixed";
        }
    }

    static class Echo implements Namer {
        @Override
        public String name(String text) {
            return text;
        }
    }

    Namer fixed = new Fixed();
    Namer echo = new Echo();

    static void run(String imei) {
        InterfaceFieldOk both = new InterfaceFieldOk();
        Log.i("sample", both.fixed.name(imei));
    }
}

class NotOverriddenBad {
    static class Child extends Square {}

    static void run(String imei) {
        Shape shape = new Child();
        Log.i("sample", shape.name(imei));
    }
}

/** The leaking subclass exists, but no object of it ever does. */
class NeverCreatedOk {
    static class Parent {
        void show(String text) {}
    }

    static class Child extends Parent {
        @Override
        void show(String text) {
            Log.i("sample", text);
        }
    }

    static void run(String imei) {
        Parent parent = imei.isEmpty() ? null : new Parent();
        parent.show(imei);
    }
}

/** A template method: the abstract parent calls the child's method. */
class AbstractBad {
    abstract static class Template {
        String text;

        void run(String value) {
            text = value;
            step();
        }

        abstract void step();
    }

    static void run(String imei) {
        new Template() {
            @Override
            void step() {
                Log.i("sample", text);
            }
        }.run(imei);
    }
}

class InstanceOfOk {
    static void run(String imei) {
        Shape shape = new Round();
        if (shape instanceof Square) {
            Log.i("sample", shape.name(imei));
        }
    }
}
