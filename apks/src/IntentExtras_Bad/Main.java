package org.gdroid.samples.intentextras;

import android.app.Activity;
import android.content.ContentValues;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        ExtraBad.run(imei);
        OtherKeyOk.run(imei);
        OtherIntentOk.run(imei);
        BundleBad.run(imei);
        BundleOtherKeyOk.run(imei);
        ComputedKeyBad.run(imei);
        UnknownKeyBad.run(imei, String.valueOf(state));
        NestedBundleBad.run(imei);
        ContentValuesBad.run(imei);
        ContentValuesOtherKeyOk.run(imei);
        CopiedIntentBad.run(imei);
        DataUriBad.run(imei);
    }
}

class ExtraBad {
    static void run(String imei) {
        Intent intent = new Intent();
        intent.putExtra("id", imei);
        Log.i("sample", intent.getStringExtra("id"));
    }
}

class OtherKeyOk {
    static void run(String imei) {
        Intent intent = new Intent();
        intent.putExtra("id", imei);
        intent.putExtra("name", "none");
        Log.i("sample", intent.getStringExtra("name"));
    }
}

class OtherIntentOk {
    static void run(String imei) {
        Intent one = new Intent();
        Intent two = new Intent();
        one.putExtra("id", imei);
        two.putExtra("id", "none");
        Log.i("sample", two.getStringExtra("id"));
    }
}

class BundleBad {
    static void run(String imei) {
        Bundle bundle = new Bundle();
        bundle.putString("id", imei);
        Log.i("sample", bundle.getString("id"));
    }
}

class BundleOtherKeyOk {
    static void run(String imei) {
        Bundle bundle = new Bundle();
        bundle.putString("id", imei);
        bundle.putString("name", "none");
        Log.i("sample", bundle.getString("name"));
    }
}

class ComputedKeyBad {
    static final String PREFIX = "org.gdroid.";

    static String key(String name) {
        return PREFIX + name;
    }

    static void run(String imei) {
        Bundle bundle = new Bundle();
        bundle.putString(key("id"), imei);
        Log.i("sample", bundle.getString("org.gdroid.id"));
    }
}

class UnknownKeyBad {
    static void run(String imei, String key) {
        Bundle bundle = new Bundle();
        bundle.putString("null", imei);
        Log.i("sample", bundle.getString(key));
    }
}

class NestedBundleBad {
    static void run(String imei) {
        Bundle inner = new Bundle();
        inner.putString("id", imei);
        Intent intent = new Intent();
        intent.putExtra("inner", inner);
        Log.i("sample", intent.getBundleExtra("inner").getString("id"));
    }
}

class ContentValuesBad {
    static void run(String imei) {
        ContentValues values = new ContentValues();
        values.put("id", imei);
        Log.i("sample", values.getAsString("id"));
    }
}

class ContentValuesOtherKeyOk {
    static void run(String imei) {
        ContentValues values = new ContentValues();
        values.put("id", imei);
        values.put("name", "none");
        Log.i("sample", values.getAsString("name"));
    }
}

class CopiedIntentBad {
    static void run(String imei) {
        Intent one = new Intent();
        one.putExtra("id", imei);
        Intent two = new Intent(one);
        Log.i("sample", two.getStringExtra("id"));
    }
}

class DataUriBad {
    static void run(String imei) {
        Intent intent = new Intent();
        intent.setData(Uri.parse("https://example.org/" + imei));
        Log.i("sample", intent.getDataString());
    }
}
