package org.gdroid.samples.arrays;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        ConstantIndexBad.run(imei);
        OtherIndexOk.run(imei);
        UnknownIndexBad.run(imei, (int) System.currentTimeMillis() & 3);
        ReadUnknownIndexBad.run(imei, (int) System.currentTimeMillis() & 1);
        OverwrittenElementOk.run(imei);
        CopyBad.run(imei);
        TwoDimensionsBad.run(imei);
        FilledArrayBad.run(imei);
        ConstantDataOk.run(imei);
        LengthOk.run(imei);
        LoopBad.run(imei);
        OtherArrayOk.run(imei);
        WideElementBad.run(imei);
    }
}

class ConstantIndexBad {
    static void run(String imei) {
        String[] texts = new String[3];
        texts[1] = imei;
        Log.i("sample", texts[1]);
    }
}

class OtherIndexOk {
    static void run(String imei) {
        String[] texts = new String[3];
        texts[1] = imei;
        texts[2] = "none";
        Log.i("sample", texts[2]);
    }
}

class UnknownIndexBad {
    static void run(String imei, int i) {
        String[] texts = {"a", "b", "c", "d"};
        texts[i] = imei;
        Log.i("sample", texts[2]);
    }
}

class ReadUnknownIndexBad {
    static void run(String imei, int i) {
        String[] texts = new String[2];
        texts[0] = imei;
        texts[1] = "none";
        Log.i("sample", texts[i]);
    }
}

class OverwrittenElementOk {
    static void run(String imei) {
        String[] texts = new String[2];
        texts[0] = imei;
        texts[0] = "none";
        Log.i("sample", texts[0]);
    }
}

class CopyBad {
    static void run(String imei) {
        String[] from = {imei, imei};
        String[] to = new String[2];
        System.arraycopy(from, 0, to, 0, 2);
        Log.i("sample", to[1]);
    }
}

class TwoDimensionsBad {
    static void run(String imei) {
        String[][] table = new String[2][2];
        table[1][0] = imei;
        String[] row = table[1];
        Log.i("sample", row[0]);
    }
}

class FilledArrayBad {
    static void log(String... texts) {
        Log.i("sample", texts[2]);
    }

    static void run(String imei) {
        log("a", "b", imei);
    }
}

class ConstantDataOk {
    static void run(String imei) {
        int[] data = {1, 1, 2, 3, 5, 8, 13, 21, 34};
        Log.i("sample", String.valueOf(data[5]));
    }
}

class LengthOk {
    static void run(String imei) {
        String[] texts = new String[7];
        texts[0] = imei;
        Log.i("sample", String.valueOf(texts.length));
    }
}

class LoopBad {
    static void run(String imei) {
        char[] letters = imei.toCharArray();
        int[] numbers = new int[letters.length];
        for (int i = 0; i < letters.length; i++) {
            numbers[i] = letters[i] - '0';
        }
        Log.i("sample", String.valueOf(numbers[3]));
    }
}

class OtherArrayOk {
    static void run(String imei) {
        String[] one = new String[1];
        String[] two = new String[1];
        one[0] = imei;
        two[0] = "none";
        Log.i("sample", two[0]);
    }
}

class WideElementBad {
    static void run(String imei) {
        long[] numbers = new long[2];
        numbers[1] = Long.parseLong(imei);
        Log.i("sample", String.valueOf(numbers[1]));
    }
}
