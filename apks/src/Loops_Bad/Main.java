package org.gdroid.samples.loops;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        CarriedBad.run(imei);
        TwoRoundsBad.run(imei);
        BreakBad.run(imei);
        ContinueOk.run(imei);
        NestedBad.run(imei);
        CleanedEachRoundOk.run(imei);
        DoWhileBad.run(imei);
        LabelledAfterLoopOk.run(imei);
    }
}

class Box {
    String text = "none";
}

class CarriedBad {
    static void run(String imei) {
        String text = "none";
        for (int i = 0; i < 3; i++) {
            Log.i("sample", text);
            text = imei;
        }
    }
}

/** The data needs three rounds to get to c. */
class TwoRoundsBad {
    static void run(String imei) {
        String a = imei;
        String b = "none";
        String c = "none";
        String d = "none";
        for (int i = 0; i < 5; i++) {
            d = c;
            c = b;
            b = a;
        }
        Log.i("sample", d);
    }
}

class BreakBad {
    static void run(String imei) {
        String text = "none";
        while (true) {
            text = imei;
            if (text.length() > 3) {
                break;
            }
            text = "short";
        }
        Log.i("sample", text);
    }
}

class ContinueOk {
    static void run(String imei) {
        String text = "none";
        for (int i = 0; i < 9; i++) {
            String other = imei;
            if (other.isEmpty()) {
                continue;
            }
            other = "none";
            text = other;
        }
        Log.i("sample", text);
    }
}

class NestedBad {
    static void run(String imei) {
        Box[] boxes = {new Box(), new Box(), new Box()};
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) {
                if (boxes[j].text.equals("none")) {
                    boxes[j].text = boxes[i].text;
                }
            }
            boxes[i].text = imei;
        }
        Log.i("sample", boxes[1].text);
    }
}

class CleanedEachRoundOk {
    static void run(String imei) {
        Box box = new Box();
        for (int i = 0; i < 3; i++) {
            box.text = imei;
            box.text = "none";
        }
        Log.i("sample", box.text);
    }
}

class DoWhileBad {
    static void run(String imei) {
        String text = "none";
        int i = 0;
        do {
            text = text + imei.charAt(i);
            i++;
        } while (i < 15);
        Log.i("sample", text);
    }
}

class LabelledAfterLoopOk {
    static void run(String imei) {
        Box box = new Box();
        for (int i = 0; i < 3; i++) {
            Log.i("sample", box.text);
        }
        box.text = imei;
    }
}
