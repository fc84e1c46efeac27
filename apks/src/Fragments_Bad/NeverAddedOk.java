package org.gdroid.samples.fragments;

import android.app.Activity;
import android.app.Fragment;
import android.content.Context;
import android.telephony.TelephonyManager;
import android.util.Log;

public class NeverAddedOk extends Fragment {
    @Override
    public void onAttach(Activity activity) {
        super.onAttach(activity);
        Log.i("sample", ((TelephonyManager) activity.getSystemService(Context.TELEPHONY_SERVICE)).getDeviceId());
    }
}
