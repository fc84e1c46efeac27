package org.gdroid.samples.callkinds;

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
        VirtualBad.run(imei);
        SuperBad.run(imei);
        PrivateBad.run(imei);
        InterfaceBad.run(imei);
        DefaultMethodBad.run(imei);
        ConstructorBad.run(imei);
        ManyArgumentsBad.run(imei);
        OtherArgumentOk.run(imei);
        IgnoredResultOk.run(imei);
        WideArgumentsBad.run(imei);
        InnerClassBad.run(imei);
        CalledTwiceOk.run(imei);
    }
}

class StaticBad {
    static String id(String text) {
        return text;
    }

    static void run(String imei) {
        Log.i("sample", id(imei));
    }
}

class VirtualBad {
    String id(String text) {
        return text;
    }

    static void run(String imei) {
        Log.i("sample", new VirtualBad().id(imei));
    }
}

class SuperBad {
    static class Parent {
        String id(String text) {
            return text;
        }
    }

    static class Child extends Parent {
        @Override
        String id(String text) {
            super.id("x");
            return super.id(text);
        }
    }

    static void run(String imei) {
        Log.i("sample", new Child().id(imei));
    }
}

class PrivateBad {
    private String id(String text) {
        return text;
    }

    static void run(String imei) {
        Log.i("sample", new PrivateBad().id(imei));
    }
}

class InterfaceBad {
    interface Id {
        String id(String text);
    }

    static class Impl implements Id {
        @Override
        public String id(String text) {
            return text;
        }
    }

    static void run(String imei) {
        Id id = new Impl();
        Log.i("sample", id.id(imei));
    }
}

class DefaultMethodBad {
    interface Id {
        default String id(String text) {
            return text;
        }
    }

    static class Impl implements Id {}

    static void run(String imei) {
        Id id = new Impl();
        Log.i("sample", id.id(imei));
    }
}

class ConstructorBad {
    private final String text;

    ConstructorBad(String text) {
        this.text = text;
    }

    static void run(String imei) {
        Log.i("sample", new ConstructorBad(imei).text);
    }
}

/** More than five registers: invoke-static/range. */
class ManyArgumentsBad {
    static String pick(String a, String b, String c, String d, String e, String f, String g) {
        return f;
    }

    static void run(String imei) {
        Log.i("sample", pick("a", "b", "c", "d", "e", imei, "g"));
    }
}

class OtherArgumentOk {
    static String pick(String a, String b) {
        return b;
    }

    static void run(String imei) {
        Log.i("sample", pick(imei, "none"));
    }
}

class IgnoredResultOk {
    static String id(String text) {
        return text;
    }

    static void run(String imei) {
        id(imei);
        Log.i("sample", id("none"));
    }
}

/** Wide arguments take two registers each. */
class WideArgumentsBad {
    static long pick(long a, double b, long c, int d) {
        return c;
    }

    static void run(String imei) {
        Log.i("sample", String.valueOf(pick(1L, 2.0, Long.parseLong(imei), 3)));
    }
}

/** Reads a private field of the outer object through a synthetic accessor. */
class InnerClassBad {
    private String text;

    class Inner {
        String outer() {
            return text;
        }
    }

    static void run(String imei) {
        InnerClassBad outer = new InnerClassBad();
        outer.text = imei;
        Log.i("sample", outer.new Inner().outer());
    }
}

/** One helper for a labelled and a clean text: contexts stay apart. */
class CalledTwiceOk {
    static String wrap(String text) {
        return "<" + text + ">";
    }

    static void run(String imei) {
        String one = wrap(imei);
        String two = wrap("none");
        Log.i("sample", two);
    }
}
