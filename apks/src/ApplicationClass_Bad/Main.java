package org.gdroid.samples.applicationclass;

import android.app.Activity;
import android.os.Bundle;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        FieldBad.run(this);
        StaticBad.run();
        OtherFieldOk.run(this);
    }
}

class FieldBad {
    static void run(Activity activity) {
        App app = (App) activity.getApplication();
        Log.i("sample", app.text);
    }
}

class StaticBad {
    static void run() {
        Log.i("sample", App.instance.text);
    }
}

class OtherFieldOk {
    static void run(Activity activity) {
        App app = (App) activity.getApplicationContext();
        Log.i("sample", app.name);
    }
}

class LowMemoryBad {
    static void run(String text) {
        Log.i("sample", text);
    }
}
