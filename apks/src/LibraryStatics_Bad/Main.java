package org.gdroid.samples.librarystatics;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import com.google.gson.internal.Registry;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        Registry.current = new Registry();
        ReplacedStaticBad.run(imei);
        ThroughLibraryBad.run(imei);
        ReadAgainBad.run(imei);
        OtherFieldOk.run(imei);
    }
}

/** old=Lib.g; x=new T(); Lib.g=x; x.f=src; old.f=clean; sink(x.f): src. */
class ReplacedStaticBad {
    static void run(String imei) {
        Registry old = Registry.current;
        Registry x = new Registry();
        Registry.current = x;
        x.text = imei;
        old.text = "clean";
        Log.i("sample", x.text);
    }
}

/** Stored and read back by code of the library. */
class ThroughLibraryBad {
    static void run(String imei) {
        Registry.remember(imei);
        Log.i("sample", Registry.recall());
    }
}

class ReadAgainBad {
    static void run(String imei) {
        Registry.current.text = imei;
        Log.i("sample", Registry.current.text);
    }
}

class OtherFieldOk {
    static void run(String imei) {
        Registry.current.text = imei;
        Log.i("sample", Registry.current.name);
    }
}
