package org.gdroid.samples.clicklisteners;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import android.view.View;
import android.widget.Button;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        AnonymousBad.run(this, imei);
        NeverRegisteredOk.run(this, imei);
        TwoListenersBad.run(this, imei);
        ActivityFieldBad.run(this, imei);
        CleanListenerOk.run(this, imei);
        LongClickBad.run(this, imei);
    }
}

class AnonymousBad {
    static void run(Activity activity, final String imei) {
        Button button = new Button(activity);
        button.setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                Log.i("sample", imei);
            }
        });
        activity.setContentView(button);
    }
}

/** The listener is made and never registered. */
class NeverRegisteredOk implements View.OnClickListener {
    String text;

    @Override
    public void onClick(View view) {
        Log.i("sample", text);
    }

    static void run(Activity activity, String imei) {
        NeverRegisteredOk listener = new NeverRegisteredOk();
        listener.text = imei;
    }
}

/** One listener stores, the other sends. */
class TwoListenersBad {
    String text = "none";

    void register(Activity activity, final String imei) {
        new Button(activity).setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                text = imei;
            }
        });
        new Button(activity).setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                Log.i("sample", text);
            }
        });
    }

    static void run(Activity activity, String imei) {
        new TwoListenersBad().register(activity, imei);
    }
}

class ActivityFieldBad implements View.OnClickListener {
    private final String text;

    ActivityFieldBad(String text) {
        this.text = text;
    }

    @Override
    public void onClick(View view) {
        Log.i("sample", text);
    }

    static void run(Activity activity, String imei) {
        View.OnClickListener listener = new ActivityFieldBad(imei);
        View view = activity.findViewById(1);
        view.setOnClickListener(listener);
    }
}

class CleanListenerOk {
    static void run(Activity activity, final String imei) {
        final String clean = imei.isEmpty() ? "a" : "b";
        new Button(activity).setOnClickListener(new View.OnClickListener() {
            @Override
            public void onClick(View view) {
                Log.i("sample", clean);
            }
        });
    }
}

class LongClickBad {
    static void run(Activity activity, final String imei) {
        new Button(activity).setOnLongClickListener(new View.OnLongClickListener() {
            @Override
            public boolean onLongClick(View view) {
                Log.i("sample", imei);
                return true;
            }
        });
    }
}
