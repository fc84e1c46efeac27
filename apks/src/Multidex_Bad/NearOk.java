package org.gdroid.samples.multidex;

import android.util.Log;

class NearOk {
    static void run(FarBox box) {
        Log.i("sample", box.name);
    }
}
