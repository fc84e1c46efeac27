package org.gdroid.samples.handlers;

import android.app.Activity;
import android.os.Bundle;
import android.os.Handler;
import android.os.Message;
import android.telephony.TelephonyManager;
import android.util.Log;
import android.view.View;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        PostBad.run(imei);
        PostThenStoreBad.run(imei);
        PostDelayedBad.run(imei);
        MessageObjectBad.run(imei);
        ObtainedMessageBad.run(imei);
        MessageDataBad.run(imei);
        CallbackBad.run(imei);
        NeverPostedOk.run(imei);
        ViewPostBad.run(new View(this), imei);
    }
}

class PostBad {
    static void run(final String imei) {
        new Handler().post(new Runnable() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        });
    }
}

/** h.post(r); r.d=imei();   r.run(){ sink(this.d); }. */
class PostThenStoreBad implements Runnable {
    String d = "none";

    @Override
    public void run() {
        Log.i("sample", this.d);
    }

    static void run(String imei) {
        Handler h = new Handler();
        PostThenStoreBad r = new PostThenStoreBad();
        h.post(r);
        r.d = imei;
    }
}

class PostDelayedBad implements Runnable {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        PostDelayedBad work = new PostDelayedBad();
        work.text = imei;
        new Handler().postDelayed(work, 500);
    }
}

class MessageObjectBad extends Handler {
    @Override
    public void handleMessage(Message message) {
        Log.i("sample", (String) message.obj);
    }

    static void run(String imei) {
        Message message = new Message();
        message.obj = imei;
        new MessageObjectBad().sendMessage(message);
    }
}

class ObtainedMessageBad extends Handler {
    @Override
    public void handleMessage(Message message) {
        Log.i("sample", (String) message.obj);
    }

    static void run(String imei) {
        ObtainedMessageBad handler = new ObtainedMessageBad();
        handler.obtainMessage(1, imei).sendToTarget();
    }
}

class MessageDataBad extends Handler {
    @Override
    public void handleMessage(Message message) {
        Log.i("sample", message.getData().getString("id"));
    }

    static void run(String imei) {
        Bundle data = new Bundle();
        data.putString("id", imei);
        Message message = Message.obtain();
        message.setData(data);
        new MessageDataBad().sendMessageDelayed(message, 100);
    }
}

class CallbackBad {
    static void run(String imei) {
        Handler handler = new Handler(new Handler.Callback() {
            @Override
            public boolean handleMessage(Message message) {
                Log.i("sample", (String) message.obj);
                return true;
            }
        });
        Message message = Message.obtain();
        message.obj = imei;
        handler.sendMessage(message);
    }
}

class NeverPostedOk implements Runnable {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        NeverPostedOk work = new NeverPostedOk();
        work.text = imei;
        new Handler().removeCallbacks(work);
    }
}

class ViewPostBad {
    static void run(View view, final String imei) {
        view.post(new Runnable() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        });
    }
}
