package org.gdroid.samples.services;

import android.app.Activity;
import android.content.Intent;
import android.os.Bundle;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        startService(new Intent(this, StartedBad.class));
        startService(new Intent(this, FieldBad.class));
        startService(new Intent(this, QueuedBad.class));
    }
}
