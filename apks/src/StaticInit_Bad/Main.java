package org.gdroid.samples.staticinit;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    static TelephonyManager phone;
    static String text;
    static String late;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        phone = (TelephonyManager) getSystemService(TELEPHONY_SERVICE);
        SourceInInitBad.run();
        text = phone.getDeviceId();
        new SinkInInitBad();
        ConstantsOk.run();
        InitBeforeStoreOk.touch();
        late = text;
        InitBeforeStoreOk.run();
        isThere(state);
    }

    static boolean isThere(Object o) {
        return o instanceof NeverInitialisedOk;
    }
}

class SourceInInitBad {
    static final String ID = Main.phone.getDeviceId();

    static void run() {
        Log.i("sample", ID);
    }
}

class SinkInInitBad {
    static {
        Log.i("sample", Main.text);
    }
}

/** Values that stand in the class definition, not in code. */
class ConstantsOk {
    static String text = "constant";
    static long number = 1234567890123L;
    static double real = 0.5;

    static void run() {
        Log.i("sample", text + number + real);
    }
}

/** The initialiser runs once, before the data is stored. */
class InitBeforeStoreOk {
    static String copy = Main.late;

    static void touch() {}

    static void run() {
        Log.i("sample", String.valueOf(copy));
    }
}

/** A type test does not initialise the class. */
class NeverInitialisedOk {
    static {
        Log.i("sample", Main.text);
    }
}
