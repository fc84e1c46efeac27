package org.gdroid.samples.fragments;

import android.app.Fragment;
import android.os.Bundle;
import android.util.Log;
import android.view.LayoutInflater;
import android.view.View;
import android.view.ViewGroup;

public class ArgumentBad extends Fragment {
    static ArgumentBad make(String text) {
        ArgumentBad fragment = new ArgumentBad();
        Bundle arguments = new Bundle();
        arguments.putString("id", text);
        fragment.setArguments(arguments);
        return fragment;
    }

    @Override
    public View onCreateView(LayoutInflater inflater, ViewGroup parent, Bundle state) {
        Log.i("sample", getArguments().getString("id"));
        return null;
    }
}
