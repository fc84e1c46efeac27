package org.gdroid.samples.providers;

import android.app.Activity;
import android.util.Log;

public class Main extends Activity {}

class OverwrittenOk {
    static void run(String text) {
        Log.d("sample", text);
    }
}
