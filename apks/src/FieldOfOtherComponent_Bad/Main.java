package org.gdroid.samples.fieldofothercomponent;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;
import android.util.Log;

/** A.onCreate{ Hub.a=this } B{ Hub.a.s=imei() } A.onResume{ sink(this.s) }. */
public class Main extends Activity {
    String text = "none";

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Hub.main = this;
        startService(new Intent(this, Writer.class));
    }

    @Override
    protected void onResume() {
        super.onResume();
        Log.i("sample", text);
    }
}

class Hub {
    static Main main;
    static String shared = "none";
}
