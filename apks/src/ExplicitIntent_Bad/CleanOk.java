package org.gdroid.samples.explicitintent;

import android.app.Activity;
import android.os.Bundle;
import android.util.Log;

public class CleanOk extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Log.i("sample", getIntent().getStringExtra("id"));
    }
}
