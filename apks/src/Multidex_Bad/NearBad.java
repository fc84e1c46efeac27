package org.gdroid.samples.multidex;

import android.util.Log;

class NearBad {
    static void run(FarBox box) {
        Log.i("sample", box.text);
    }
}
