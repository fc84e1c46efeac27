package org.gdroid.samples.threads;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import java.util.Timer;
import java.util.TimerTask;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        ThreadSubclassBad.run(imei);
        RunnableBad.run(imei);
        AnonymousBad.run(imei);
        NeverStartedOk.run(imei);
        StoredAfterStartBad.run(imei);
        ResultAfterJoinBad.run(imei);
        OtherRunnableOk.run(imei);
        TimerBad.run(imei);
        UiThreadBad.run(this, imei);
        CalledDirectlyBad.run(imei);
        SynchronizedBad.run(imei);
        MonitorBad.run(imei);
    }
}

class ThreadSubclassBad extends Thread {
    private final String text;

    ThreadSubclassBad(String text) {
        this.text = text;
    }

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        new ThreadSubclassBad(imei).start();
    }
}

class RunnableBad implements Runnable {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        RunnableBad work = new RunnableBad();
        work.text = imei;
        Thread thread = new Thread(work, "worker");
        thread.start();
    }
}

class AnonymousBad {
    static void run(final String imei) {
        new Thread() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        }.start();
    }
}

class NeverStartedOk extends Thread {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        NeverStartedOk thread = new NeverStartedOk();
        thread.text = imei;
        thread.setName("idle");
    }
}

/** The thread may run after the store. */
class StoredAfterStartBad extends Thread {
    String text = "none";

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        StoredAfterStartBad thread = new StoredAfterStartBad();
        thread.start();
        thread.text = imei;
    }
}

class ResultAfterJoinBad extends Thread {
    final String in;
    String out = "none";

    ResultAfterJoinBad(String in) {
        this.in = in;
    }

    @Override
    public void run() {
        out = "id=" + in;
    }

    static void run(String imei) {
        ResultAfterJoinBad thread = new ResultAfterJoinBad(imei);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            return;
        }
        Log.i("sample", thread.out);
    }
}

/** Two runnables of two classes: only the clean one has the sink. */
class OtherRunnableOk implements Runnable {
    String text = "none";

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(final String imei) {
        new Thread(new OtherRunnableOk()).start();
        new Thread(new Runnable() {
            String text = "none";

            @Override
            public void run() {
                text = imei;
            }
        }).start();
    }
}

class TimerBad {
    static void run(final String imei) {
        new Timer().schedule(new TimerTask() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        }, 1000);
    }
}

class UiThreadBad {
    static void run(Activity activity, final String imei) {
        activity.runOnUiThread(new Runnable() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        });
    }
}

/** run() instead of start(): an ordinary call. */
class CalledDirectlyBad extends Thread {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        CalledDirectlyBad thread = new CalledDirectlyBad();
        thread.text = imei;
        thread.run();
    }
}

class SynchronizedBad {
    private String text;

    synchronized void set(String value) {
        text = value;
    }

    synchronized String get() {
        return text;
    }

    static void run(String imei) {
        SynchronizedBad box = new SynchronizedBad();
        box.set(imei);
        Log.i("sample", box.get());
    }
}

class MonitorBad {
    static String text = "none";

    static void run(String imei) {
        Object lock = new Object();
        synchronized (lock) {
            text = imei;
        }
        synchronized (lock) {
            Log.i("sample", text);
        }
    }
}
