package org.gdroid.samples.fieldofothercomponent;

import android.app.Activity;
import android.os.Bundle;
import android.util.Log;

/** A static field that one component writes and another reads. */
public class ReaderBad extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        Log.i("sample", Hub.shared);
    }
}
