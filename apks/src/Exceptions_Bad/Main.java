package org.gdroid.samples.exceptions;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        MessageBad.run(imei);
        StoreThenThrowBad.run(imei);
        FinallyBad.run(imei);
        FieldOfExceptionBad.run(imei);
        OtherHandlerOk.run(imei);
        CaughtInCallerBad.run(imei);
        RethrownBad.run(imei);
        LocalBeforeThrowBad.run(imei);
        NestedFinallyBad.run(imei);
        CleanedInHandlerOk.run(imei);
        CauseBad.run(imei);
    }
}

class Box {
    String text = "none";
}

/** try{ throw new E(imei()); } catch(E e){ sink(e.getMessage()); }. */
class MessageBad {
    static void run(String imei) {
        try {
            throw new IllegalStateException(imei);
        } catch (IllegalStateException e) {
            Log.i("sample", e.getMessage());
        }
    }
}

/** m(p){ p.f=src; throw e; }  try{ m(o); } catch(..){ sink(o.f); }. */
class StoreThenThrowBad {
    static void m(Box p, String value) {
        p.text = value;
        throw new IllegalStateException();
    }

    static void run(String imei) {
        Box o = new Box();
        try {
            m(o, imei);
        } catch (IllegalStateException e) {
            Log.i("sample", o.text);
        }
    }
}

class FinallyBad {
    static void run(String imei) {
        String text = "none";
        try {
            text = imei;
            Long.parseLong(imei);
        } finally {
            Log.i("sample", text);
        }
    }
}

class FieldOfExceptionBad {
    static class Failure extends Exception {
        final String detail;

        Failure(String detail) {
            this.detail = detail;
        }
    }

    static void fail(String text) throws Failure {
        throw new Failure(text);
    }

    static void run(String imei) {
        try {
            fail(imei);
        } catch (Failure e) {
            Log.i("sample", e.detail);
        }
    }
}

/** The thrown object is of another type than this handler catches. */
class OtherHandlerOk {
    static class One extends RuntimeException {
        String detail = "none";
    }

    static class Two extends RuntimeException {
        String detail = "none";
    }

    static void run(String imei) {
        Two two = new Two();
        two.detail = imei;
        try {
            if (imei.length() > 3) {
                throw two;
            }
            throw new One();
        } catch (One e) {
            Log.i("sample", e.detail);
        } catch (Two e) {
            return;
        }
    }
}

class CaughtInCallerBad {
    static void deep(String text, int n) {
        if (n == 0) {
            throw new RuntimeException(text);
        }
        deep(text, n - 1);
    }

    static void run(String imei) {
        try {
            deep(imei, 3);
        } catch (RuntimeException e) {
            Log.i("sample", e.getMessage());
        }
    }
}

class RethrownBad {
    static void inner(String text) {
        try {
            throw new RuntimeException(text);
        } catch (RuntimeException e) {
            throw e;
        }
    }

    static void run(String imei) {
        try {
            inner(imei);
        } catch (RuntimeException e) {
            Log.i("sample", e.getMessage());
        }
    }
}

/** The handler sees the state before the instruction that threw. */
class LocalBeforeThrowBad {
    static void run(String imei) {
        Box box = new Box();
        try {
            box.text = imei;
            Integer.parseInt(imei);
            box.text = "none";
        } catch (NumberFormatException e) {
            Log.i("sample", box.text);
        }
    }
}

class NestedFinallyBad {
    static String text = "none";

    static void run(String imei) {
        try {
            try {
                Integer.parseInt("x");
            } finally {
                text = imei;
            }
        } catch (NumberFormatException e) {
            Log.i("sample", text);
        }
    }
}

class CleanedInHandlerOk {
    static void run(String imei) {
        Box box = new Box();
        box.text = imei;
        try {
            Integer.parseInt(imei);
            box.text = "none";
        } catch (NumberFormatException e) {
            box.text = "failed";
        }
        Log.i("sample", box.text);
    }
}

class CauseBad {
    static void run(String imei) {
        try {
            throw new RuntimeException("outer", new IllegalStateException(imei));
        } catch (RuntimeException e) {
            Log.i("sample", e.getCause().getMessage());
        }
    }
}
