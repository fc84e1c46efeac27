package org.gdroid.samples.applicationclass;

import android.app.Application;
import android.telephony.TelephonyManager;

public class App extends Application {
    static App instance;
    String text;
    String name = "sample";

    @Override
    public void onCreate() {
        super.onCreate();
        instance = this;
        text = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    public void onLowMemory() {
        super.onLowMemory();
        LowMemoryBad.run(text);
    }
}
