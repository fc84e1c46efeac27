package org.gdroid.samples.library;

import android.app.Activity;
import android.net.Uri;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import java.io.CharArrayWriter;
import java.text.MessageFormat;
import java.util.PriorityQueue;
import org.json.JSONException;
import org.json.JSONStringer;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        TwoResultsBad.run(imei);
        ReceiverKeepsBad.run(imei);
        BuilderBad.run(imei);
        DescribedObjectBad.run(imei);
        OutputParameterBad.run(imei);
        OtherReceiverOk.run(imei);
        UnrelatedResultOk.run(imei);
        WriterBad.run(imei);
        UnmodelledObjectBad.run(imei);
        UnmodelledReceiverBad.run(imei);
    }
}

class Box implements Comparable<Box> {
    String text = "none";
    int order;

    @Override
    public int compareTo(Box other) {
        return order - other.order;
    }

    @Override
    public String toString() {
        return "Box " + text;
    }
}

/** x=lib.get(); y=lib.get(); x.f=src; y.f=clean; sink(x.f): src, as the results may be two objects. */
class TwoResultsBad {
    static void run(String imei) {
        PriorityQueue<Box> queue = new PriorityQueue<>();
        queue.add(new Box());
        queue.add(new Box());
        Box x = queue.poll();
        Box y = queue.poll();
        x.text = imei;
        y.text = "clean";
        Log.i("sample", x.text);
    }
}

/** A library object without a model keeps what it is given. */
class ReceiverKeepsBad {
    static void run(String imei) {
        try {
            JSONStringer json = new JSONStringer();
            json.object();
            json.key("id");
            json.value(imei);
            json.endObject();
            Log.i("sample", json.toString());
        } catch (JSONException e) {
            return;
        }
    }
}

/** b.put(imei); s=b.build(); sink(s). */
class BuilderBad {
    static void run(String imei) {
        Uri.Builder builder = new Uri.Builder();
        builder.scheme("https").authority("example.org");
        builder.appendPath(imei);
        Uri uri = builder.build();
        Log.i("sample", uri.toString());
    }
}

/** String w(Foo p){ return lib.describe(p); }  w(object that holds the data). */
class DescribedObjectBad {
    static String describe(Box p) {
        return MessageFormat.format("{0}", p);
    }

    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        Log.i("sample", describe(box));
    }
}

/** The same with a library class so rare that it stays without a model. */
class UnmodelledObjectBad {
    static String describe(Box p) {
        return new java.util.EventObject(p).toString();
    }

    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        Log.i("sample", describe(box));
    }
}

class UnmodelledReceiverBad {
    static void run(String imei) {
        android.text.Annotation pair = new android.text.Annotation(imei, "value");
        Log.i("sample", pair.getKey());
    }
}

class OutputParameterBad {
    static void run(String imei) {
        char[] out = new char[15];
        imei.getChars(0, 15, out, 0);
        Log.i("sample", new String(out));
    }
}

class OtherReceiverOk {
    static void run(String imei) {
        Uri.Builder one = new Uri.Builder();
        Uri.Builder two = new Uri.Builder();
        one.appendPath(imei);
        two.appendPath("none");
        Log.i("sample", two.build().toString());
    }
}

class UnrelatedResultOk {
    static void run(String imei) {
        Uri.parse(imei);
        Log.i("sample", String.valueOf(System.currentTimeMillis()));
    }
}

class WriterBad {
    static void run(String imei) {
        CharArrayWriter writer = new CharArrayWriter();
        writer.append("id=").append(imei);
        Log.i("sample", writer.toString());
    }
}
