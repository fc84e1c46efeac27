package org.gdroid.samples.providers;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.Context;
import android.database.Cursor;
import android.net.Uri;
import android.telephony.TelephonyManager;
import android.util.Log;

public class StoreBad extends ContentProvider {
    private String text;

    @Override
    public boolean onCreate() {
        text = ((TelephonyManager) getContext().getSystemService(Context.TELEPHONY_SERVICE)).getDeviceId();
        return true;
    }

    @Override
    public Cursor query(Uri uri, String[] columns, String where, String[] values, String order) {
        Log.i("sample", text);
        return null;
    }

    @Override
    public String getType(Uri uri) {
        return "text/plain";
    }

    @Override
    public Uri insert(Uri uri, ContentValues values) {
        Log.e("sample", text);
        return uri;
    }

    @Override
    public int update(Uri uri, ContentValues values, String where, String[] arguments) {
        text = "none";
        OverwrittenOk.run(text);
        return 0;
    }

    @Override
    public int delete(Uri uri, String where, String[] arguments) {
        return 0;
    }
}
