package org.gdroid.samples.manytargets;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        Step[] steps = new Step[] {
            new Step00(), new Step01(), new Step02(), new Step03(), new Step04(), new Step05(), new Step06(), new Step07(),
            new Step08(), new Step09(), new Step10(), new Step11(), new Step12(), new Step13(), new Step14(), new Step15(),
            new Step16(), new Step17(), new Step18(), new Step19(), new Step20(), new Step21(), new Step22(), new Step23()
        };
        int n = (int) (System.currentTimeMillis() & 15);
        OneOfManyBad.run(imei, steps[n]);
        CleanStepsOk.run(imei, n);
    }
}

interface Step {
    String apply(String text);
}

class OneOfManyBad {
    static void run(String imei, Step step) {
        Log.i("sample", step.apply(imei));
    }
}

/** Called on the clean ones only. */
class CleanStepsOk {
    static void run(String imei, int n) {
        Step step = n > 3 ? new Step01() : new Step02();
        Log.i("sample", step.apply(imei));
    }
}

class Step00 implements Step {
    @Override
    public String apply(String text) {
        return "step 0";
    }
}

class Step01 implements Step {
    @Override
    public String apply(String text) {
        return "step 1";
    }
}

class Step02 implements Step {
    @Override
    public String apply(String text) {
        return "step 2";
    }
}

class Step03 implements Step {
    @Override
    public String apply(String text) {
        return "step 3";
    }
}

class Step04 implements Step {
    @Override
    public String apply(String text) {
        return "step 4";
    }
}

class Step05 implements Step {
    @Override
    public String apply(String text) {
        return "step 5";
    }
}

class Step06 implements Step {
    @Override
    public String apply(String text) {
        return "step 6";
    }
}

class Step07 implements Step {
    @Override
    public String apply(String text) {
        return "step 7";
    }
}

class Step08 implements Step {
    @Override
    public String apply(String text) {
        return "step 8";
    }
}

class Step09 implements Step {
    @Override
    public String apply(String text) {
        return "step 9";
    }
}

class Step10 implements Step {
    @Override
    public String apply(String text) {
        return "step 10";
    }
}

class Step11 implements Step {
    @Override
    public String apply(String text) {
        return "step 11";
    }
}

class Step12 implements Step {
    @Override
    public String apply(String text) {
        return "step 12";
    }
}

class Step13 implements Step {
    @Override
    public String apply(String text) {
        return text;
    }
}

class Step14 implements Step {
    @Override
    public String apply(String text) {
        return "step 14";
    }
}

class Step15 implements Step {
    @Override
    public String apply(String text) {
        return "step 15";
    }
}

class Step16 implements Step {
    @Override
    public String apply(String text) {
        return "step 16";
    }
}

class Step17 implements Step {
    @Override
    public String apply(String text) {
        return "step 17";
    }
}

class Step18 implements Step {
    @Override
    public String apply(String text) {
        return "step 18";
    }
}

class Step19 implements Step {
    @Override
    public String apply(String text) {
        return "step 19";
    }
}

class Step20 implements Step {
    @Override
    public String apply(String text) {
        return "step 20";
    }
}

class Step21 implements Step {
    @Override
    public String apply(String text) {
        return "step 21";
    }
}

class Step22 implements Step {
    @Override
    public String apply(String text) {
        return "step 22";
    }
}

class Step23 implements Step {
    @Override
    public String apply(String text) {
        return "step 23";
    }
}
