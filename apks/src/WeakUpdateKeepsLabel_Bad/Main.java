package org.gdroid.samples.weakupdatekeepslabel;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        LoopFirstBad.run(imei, "b", imei.length());
        LoopSecondBad.run("a", imei, imei.length());
        EitherObjectBad.run(imei, state == null);
        OneBranchBad.run(imei, state == null);
        CalleeSometimesBad.run(imei, state == null);
        ArrayOfObjectsBad.run(imei, (int) System.currentTimeMillis() & 1);
        SameSiteTwiceBad.run(imei);
    }
}

class Box {
    String text;
}

/** o.f=a; x=null; while(*){ x.f=b; x=o; } sink(o.f): a, as the loop may not run. */
class LoopFirstBad {
    static void run(String a, String b, int n) {
        Box o = new Box();
        o.text = a;
        Box x = null;
        for (int i = 0; i < n - 15; i++) {
            if (x != null) {
                x.text = b;
            }
            x = o;
        }
        Log.i("sample", o.text);
    }
}

/** The same: b, as the loop may run twice. */
class LoopSecondBad {
    static void run(String a, String b, int n) {
        Box o = new Box();
        o.text = a;
        Box x = null;
        for (int i = 0; i < n; i++) {
            if (x != null) {
                x.text = b;
            }
            x = o;
        }
        Log.i("sample", o.text);
    }
}

class EitherObjectBad {
    static void run(String imei, boolean choice) {
        Box one = new Box();
        Box two = new Box();
        one.text = imei;
        Box either = choice ? one : two;
        either.text = "none";
        Log.i("sample", one.text);
    }
}

class OneBranchBad {
    static void run(String imei, boolean choice) {
        Box box = new Box();
        box.text = imei;
        if (choice) {
            box.text = "none";
        }
        Log.i("sample", box.text);
    }
}

class CalleeSometimesBad {
    static void clean(Box box, boolean choice) {
        if (choice) {
            box.text = "none";
        }
    }

    static void run(String imei, boolean choice) {
        Box box = new Box();
        box.text = imei;
        clean(box, choice);
        Log.i("sample", box.text);
    }
}

class ArrayOfObjectsBad {
    static void run(String imei, int i) {
        Box[] boxes = {new Box(), new Box()};
        boxes[0].text = imei;
        boxes[i].text = "none";
        Log.i("sample", boxes[0].text);
    }
}

/** Two objects of one allocation site in a loop: cleaning the last leaves the first. */
class SameSiteTwiceBad {
    static void run(String imei) {
        Box first = null;
        Box last = null;
        for (int i = 0; i < 2; i++) {
            last = new Box();
            last.text = imei;
            if (first == null) {
                first = last;
            }
        }
        last.text = "none";
        Log.i("sample", first.text);
    }
}
