package org.gdroid.samples.fragments;

import android.app.Activity;
import android.app.FragmentTransaction;
import android.os.Bundle;
import android.telephony.TelephonyManager;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        FragmentTransaction transaction = getFragmentManager().beginTransaction();
        transaction.add(1, new FieldBad());
        transaction.add(2, ArgumentBad.make(((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId()));
        transaction.commit();
        new NeverAddedOk();
    }
}
