package org.gdroid.samples.multidex;

import android.util.Log;

class FarBad {
    static void run(String imei) {
        Log.i("sample", imei);
    }
}
