package org.gdroid.samples.tasks;

import android.app.Activity;
import android.os.AsyncTask;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        new ParameterBad().execute("x", imei);
        new ResultBad().execute(imei);
        new ProgressBad().execute(imei);
        new FieldBad(imei).execute();
        new CleanResultOk().execute(imei);
        ExecutorBad.run(imei);
        CallableBad.run(imei);
        SubmittedRunnableBad.run(imei);
        NeverSubmittedOk.run(imei);
    }
}

class ParameterBad extends AsyncTask<String, Void, Void> {
    @Override
    protected Void doInBackground(String... texts) {
        Log.i("sample", texts[1]);
        return null;
    }
}

class ResultBad extends AsyncTask<String, Void, String> {
    @Override
    protected String doInBackground(String... texts) {
        return "id=" + texts[0];
    }

    @Override
    protected void onPostExecute(String result) {
        Log.i("sample", result);
    }
}

class ProgressBad extends AsyncTask<String, String, String> {
    @Override
    protected String doInBackground(String... texts) {
        publishProgress(texts[0]);
        return "done";
    }

    @Override
    protected void onProgressUpdate(String... texts) {
        Log.i("sample", texts[0]);
    }
}

class FieldBad extends AsyncTask<Void, Void, Void> {
    private final String text;
    private String copy = "none";

    FieldBad(String text) {
        this.text = text;
    }

    @Override
    protected void onPreExecute() {
        copy = text;
    }

    @Override
    protected Void doInBackground(Void... nothing) {
        Log.i("sample", copy);
        return null;
    }
}

class CleanResultOk extends AsyncTask<String, Void, String> {
    @Override
    protected String doInBackground(String... texts) {
        return "done";
    }

    @Override
    protected void onPostExecute(String result) {
        Log.i("sample", result);
    }
}

class ExecutorBad {
    static void run(final String imei) {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        pool.execute(new Runnable() {
            @Override
            public void run() {
                Log.i("sample", imei);
            }
        });
    }
}

/** The result of the task comes back through the future. */
class CallableBad {
    static void run(final String imei) {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Future<String> future = pool.submit(new Callable<String>() {
            @Override
            public String call() {
                return "id=" + imei;
            }
        });
        try {
            Log.i("sample", future.get());
        } catch (InterruptedException | ExecutionException e) {
            return;
        }
    }
}

class SubmittedRunnableBad implements Runnable {
    String text;

    @Override
    public void run() {
        Log.i("sample", text);
    }

    static void run(String imei) {
        SubmittedRunnableBad work = new SubmittedRunnableBad();
        work.text = imei;
        Executors.newCachedThreadPool().submit(work);
    }
}

class NeverSubmittedOk implements Callable<String> {
    String text;

    @Override
    public String call() {
        Log.i("sample", text);
        return text;
    }

    static void run(String imei) {
        NeverSubmittedOk work = new NeverSubmittedOk();
        work.text = imei;
        Executors.newCachedThreadPool().shutdown();
    }
}
