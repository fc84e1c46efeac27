package org.gdroid.samples.lambdas;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import android.widget.Button;
import java.util.function.Function;
import java.util.function.Supplier;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        LambdaBad.run(imei);
        MethodReferenceBad.run(imei);
        LambdaOk.run(imei);
        CapturedOk.run(imei);
        ClickBad.run(this, imei);
        ConstructorReferenceBad.run(imei);
        ThreadBad.run(imei);
        BoundReferenceBad.run(imei);
    }
}

class Box {
    String text;

    Box(String text) {
        this.text = text;
    }

    String prefixed(String prefix) {
        return prefix + text;
    }
}

class LambdaBad {
    static void run(String imei) {
        Function<String, String> id = text -> "id=" + text;
        Log.i("sample", id.apply(imei));
    }
}

class MethodReferenceBad {
    static String id(String text) {
        return text;
    }

    static void run(String imei) {
        Function<String, String> id = MethodReferenceBad::id;
        Log.i("sample", id.apply(imei));
    }
}

class LambdaOk {
    static void run(String imei) {
        Function<String, String> none = text -> "none";
        Log.i("sample", none.apply(imei));
    }
}

/** Two lambdas of one interface: the clean one is called. */
class CapturedOk {
    static void run(String imei) {
        Supplier<String> labelled = () -> imei;
        Supplier<String> clean = () -> "none";
        labelled.get();
        Log.i("sample", clean.get());
    }
}

class ClickBad {
    static void run(Activity activity, String imei) {
        new Button(activity).setOnClickListener(view -> Log.i("sample", imei));
    }
}

class ConstructorReferenceBad {
    static void run(String imei) {
        Function<String, Box> make = Box::new;
        Log.i("sample", make.apply(imei).text);
    }
}

class ThreadBad {
    static void run(String imei) {
        new Thread(() -> Log.i("sample", imei)).start();
    }
}

class BoundReferenceBad {
    static void run(String imei) {
        Box box = new Box(imei);
        Function<String, String> prefixed = box::prefixed;
        Log.i("sample", prefixed.apply("id="));
    }
}
