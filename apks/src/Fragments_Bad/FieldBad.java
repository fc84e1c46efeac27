package org.gdroid.samples.fragments;

import android.app.Fragment;
import android.content.Context;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class FieldBad extends Fragment {
    private String text;

    @Override
    public void onCreate(Bundle state) {
        super.onCreate(state);
        text = ((TelephonyManager) getActivity().getSystemService(Context.TELEPHONY_SERVICE)).getDeviceId();
    }

    @Override
    public void onDestroyView() {
        Log.i("sample", text);
        super.onDestroyView();
    }
}
