package org.gdroid.samples.strings;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        ConcatBad.run(imei);
        BuilderBad.run(imei);
        ChainedBad.run(imei);
        InsertedBad.run(imei);
        BufferBad.run(imei);
        SubstringBad.run(imei);
        FormatBad.run(imei);
        CharsBad.run(imei);
        ReplaceBad.run(imei);
        SplitBad.run(imei);
        UpperCaseBad.run(imei);
        BytesBad.run(imei);
        ParsedBad.run(imei);
        CharByCharBad.run(imei);
        ValueOfBad.run(imei);
        OtherBuilderOk.run(imei);
        EmptiedBuilderOk.run(imei);
        BuilderThroughCalleeBad.run(imei);
        ComparedOk.run(imei);
        MatcherBad.run(imei);
        ToStringBad.run(imei);
        ToStringOk.run(imei);
    }
}

class ConcatBad {
    static void run(String imei) {
        Log.i("sample", "id=".concat(imei));
    }
}

class BuilderBad {
    static void run(String imei) {
        StringBuilder builder = new StringBuilder("id=");
        builder.append(imei);
        Log.i("sample", builder.toString());
    }
}

class ChainedBad {
    static void run(String imei) {
        String text = "id=" + imei + "; n=" + imei.length();
        Log.i("sample", text);
    }
}

class InsertedBad {
    static void run(String imei) {
        StringBuilder builder = new StringBuilder("id=");
        builder.insert(0, imei).reverse();
        Log.i("sample", builder.toString());
    }
}

class BufferBad {
    static void run(String imei) {
        StringBuffer buffer = new StringBuffer();
        buffer.append('<').append(imei).append('>');
        Log.i("sample", buffer.substring(1));
    }
}

class SubstringBad {
    static void run(String imei) {
        Log.i("sample", imei.substring(2, 8).trim());
    }
}

class FormatBad {
    static void run(String imei) {
        Log.i("sample", String.format("%s: %s", "id", imei));
    }
}

class CharsBad {
    static void run(String imei) {
        char[] letters = imei.toCharArray();
        letters[0] = '*';
        Log.i("sample", new String(letters));
    }
}

class ReplaceBad {
    static void run(String imei) {
        Log.i("sample", imei.replace('0', 'o').replaceAll("[12]", "x"));
    }
}

class SplitBad {
    static void run(String imei) {
        String[] parts = imei.split("0");
        Log.i("sample", parts[0]);
    }
}

class UpperCaseBad {
    static void run(String imei) {
        Log.i("sample", imei.toUpperCase().intern());
    }
}

class BytesBad {
    static void run(String imei) {
        byte[] bytes = imei.getBytes();
        Log.i("sample", new String(bytes, 0, 4));
    }
}

class ParsedBad {
    static void run(String imei) {
        long n = Long.parseLong(imei);
        Log.i("sample", Long.toHexString(n));
    }
}

class CharByCharBad {
    static void run(String imei) {
        String text = "";
        for (int i = 0; i < imei.length(); i++) {
            text += imei.charAt(i) + "_";
        }
        Log.i("sample", text);
    }
}

class ValueOfBad {
    static void run(String imei) {
        Object text = imei;
        Log.i("sample", String.valueOf(text));
    }
}

class OtherBuilderOk {
    static void run(String imei) {
        StringBuilder one = new StringBuilder();
        StringBuilder two = new StringBuilder();
        one.append(imei);
        two.append("none");
        Log.i("sample", two.toString());
    }
}

class EmptiedBuilderOk {
    static void run(String imei) {
        StringBuilder builder = new StringBuilder();
        builder.append(imei);
        builder.setLength(0);
        builder.append("none");
        Log.i("sample", builder.toString());
    }
}

class BuilderThroughCalleeBad {
    static void fill(StringBuilder builder, String text) {
        builder.append(text);
    }

    static void run(String imei) {
        StringBuilder builder = new StringBuilder();
        fill(builder, imei);
        Log.i("sample", builder.toString());
    }
}

/** Only the branch depends on the data. */
class ComparedOk {
    static void run(String imei) {
        String text = imei.startsWith("35") ? "known" : "unknown";
        Log.i("sample", text);
    }
}

/** Appending an object calls its toString. */
class ToStringBad {
    private String text;

    @Override
    public String toString() {
        return "text " + text;
    }

    static void run(String imei) {
        ToStringBad object = new ToStringBad();
        object.text = imei;
        Log.i("sample", "<" + object + ">");
    }
}

class ToStringOk {
    private String text;

    @Override
    public String toString() {
        return "hidden";
    }

    static void run(String imei) {
        ToStringOk object = new ToStringOk();
        object.text = imei;
        Log.i("sample", String.valueOf(object));
    }
}

class MatcherBad {
    static void run(String imei) {
        java.util.regex.Matcher matcher = java.util.regex.Pattern.compile("[0-9]+").matcher(imei);
        if (matcher.find()) {
            Log.i("sample", matcher.group());
        }
    }
}
