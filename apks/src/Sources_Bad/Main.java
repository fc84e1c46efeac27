package org.gdroid.samples.sources;

import android.app.Activity;
import android.content.Context;
import android.database.Cursor;
import android.os.Bundle;
import android.provider.ContactsContract;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        TelephonyManager phone = (TelephonyManager) getSystemService(TELEPHONY_SERVICE);
        DeviceBad.run(phone);
        SubscriberBad.run(phone);
        SimBad.run(phone);
        LineBad.run(phone);
        ContactsBad.run(this);
        ModelOk.run();
    }
}

class DeviceBad {
    static void run(TelephonyManager phone) {
        Log.i("sample", phone.getDeviceId());
    }
}

class SubscriberBad {
    static void run(TelephonyManager phone) {
        Log.i("sample", phone.getSubscriberId());
    }
}

class SimBad {
    static void run(TelephonyManager phone) {
        Log.i("sample", phone.getSimSerialNumber());
    }
}

class LineBad {
    static void run(TelephonyManager phone) {
        Log.i("sample", phone.getLine1Number());
    }
}

class ContactsBad {
    static void run(Context context) {
        Cursor cursor = context.getContentResolver()
                .query(ContactsContract.Contacts.CONTENT_URI, null, null, null, null);
        while (cursor.moveToNext()) {
            Log.i("sample", cursor.getString(1));
        }
    }
}

/** Nothing private in a device's model. */
class ModelOk {
    static void run() {
        Log.i("sample", android.os.Build.MODEL);
    }
}
