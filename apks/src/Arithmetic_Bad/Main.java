package org.gdroid.samples.arithmetic;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        IntBad.run(imei);
        LongBad.run(imei);
        FloatBad.run(imei);
        NarrowBad.run(imei);
        CompareBad.run(imei);
        LiteralBad.run(imei);
        OtherNumberOk.run(imei);
    }
}

class IntBad {
    static void run(String imei) {
        int n = imei.charAt(0);
        int m = ((n + 7) * 3 - n / 2) ^ (n << 2);
        m |= -n;
        Log.i("sample", String.valueOf(m));
    }
}

class LongBad {
    static void run(String imei) {
        long n = Long.parseLong(imei);
        long m = ~(n * 31L % 1000003L) >>> 1;
        Log.i("sample", String.valueOf(m));
    }
}

class FloatBad {
    static void run(String imei) {
        double d = (double) imei.charAt(1);
        float f = (float) (d / 3.0);
        Log.i("sample", String.valueOf(f * 2f));
    }
}

class NarrowBad {
    static void run(String imei) {
        byte b = (byte) imei.charAt(2);
        short s = (short) (b + 300);
        char c = (char) s;
        Log.i("sample", String.valueOf(c));
    }
}

/** The result of a comparison is arithmetic too. */
class CompareBad {
    static int sign(long a, long b) {
        return Long.signum(a - b);
    }

    static void run(String imei) {
        Log.i("sample", String.valueOf(sign(Long.parseLong(imei), 4L)));
    }
}

class LiteralBad {
    static void run(String imei) {
        int n = imei.charAt(3);
        n += 5;
        n = 100 - n;
        n <<= 3;
        n &= 0xfff;
        Log.i("sample", String.valueOf(n));
    }
}

class OtherNumberOk {
    static void run(String imei) {
        int n = imei.charAt(0);
        int m = 12 * 4;
        for (int i = 0; i < 5; i++) {
            m += i;
        }
        Log.i("sample", String.valueOf(m));
    }
}
