package org.gdroid.samples.collections;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;
import android.util.SparseArray;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        ListBad.run(imei);
        ListOtherIndexOk.run(imei);
        OtherListOk.run(imei);
        MapKeyBad.run(imei);
        MapOtherKeyOk.run(imei);
        MapUnknownKeyBad.run(imei, String.valueOf(state));
        MapOverwrittenKeyOk.run(imei);
        IteratorBad.run(imei);
        ForEachBad.run(imei);
        SetBad.run(imei);
        QueueBad.run(imei);
        KeySetBad.run(imei);
        EntrySetBad.run(imei);
        AsListBad.run(imei);
        AddAllBad.run(imei);
        ToArrayBad.run(imei);
        ClearedOk.run(imei);
        ListOfObjectsBad.run(imei);
        NestedBad.run(imei);
        SizeOk.run(imei);
        CopyConstructorBad.run(imei);
        SparseArrayBad.run(imei);
    }
}

class Box {
    String text = "none";
}

/** list.add(imei); list.add("x"); sink(list.get(0)). */
class ListBad {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add(imei);
        list.add("x");
        Log.i("sample", list.get(0));
    }
}

class ListOtherIndexOk {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add(imei);
        list.add("x");
        Log.i("sample", list.get(1));
    }
}

class OtherListOk {
    static void run(String imei) {
        List<String> one = new ArrayList<>();
        List<String> two = new ArrayList<>();
        one.add(imei);
        two.add("x");
        Log.i("sample", two.get(0));
    }
}

class MapKeyBad {
    static void run(String imei) {
        Map<String, String> map = new HashMap<>();
        map.put("id", imei);
        map.put("name", "none");
        Log.i("sample", map.get("id"));
    }
}

class MapOtherKeyOk {
    static void run(String imei) {
        Map<String, String> map = new HashMap<>();
        map.put("id", imei);
        map.put("name", "none");
        Log.i("sample", map.get("name"));
    }
}

class MapUnknownKeyBad {
    static void run(String imei, String key) {
        Map<String, String> map = new HashMap<>();
        map.put(key, imei);
        Log.i("sample", map.get("null"));
    }
}

class MapOverwrittenKeyOk {
    static void run(String imei) {
        Map<String, String> map = new HashMap<>();
        map.put("id", imei);
        map.put("id", "none");
        Log.i("sample", map.get("id"));
    }
}

class IteratorBad {
    static void run(String imei) {
        List<String> list = new LinkedList<>();
        list.add(imei);
        Iterator<String> all = list.iterator();
        Log.i("sample", all.next());
    }
}

class ForEachBad {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add("x");
        list.add(imei);
        for (String text : list) {
            Log.i("sample", text);
        }
    }
}

class SetBad {
    static void run(String imei) {
        Set<String> set = new HashSet<>();
        set.add(imei);
        for (String text : set) {
            Log.i("sample", text);
        }
    }
}

class QueueBad {
    static void run(String imei) {
        ArrayDeque<String> queue = new ArrayDeque<>();
        queue.offer(imei);
        Log.i("sample", queue.poll());
    }
}

class KeySetBad {
    static void run(String imei) {
        Map<String, String> map = new TreeMap<>();
        map.put(imei, "value");
        for (String key : map.keySet()) {
            Log.i("sample", key);
        }
    }
}

class EntrySetBad {
    static void run(String imei) {
        Map<String, String> map = new LinkedHashMap<>();
        map.put("id", imei);
        for (Map.Entry<String, String> entry : map.entrySet()) {
            Log.i("sample", entry.getValue());
        }
    }
}

class AsListBad {
    static void run(String imei) {
        List<String> list = Arrays.asList("x", imei);
        Log.i("sample", list.get(1));
    }
}

class AddAllBad {
    static void run(String imei) {
        List<String> one = new ArrayList<>();
        List<String> two = new ArrayList<>();
        one.add(imei);
        two.addAll(one);
        Log.i("sample", two.get(0));
    }
}

class ToArrayBad {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add(imei);
        String[] array = list.toArray(new String[1]);
        Log.i("sample", array[0]);
    }
}

class ClearedOk {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add(imei);
        list.clear();
        list.add("x");
        Log.i("sample", list.get(0));
    }
}

/** a=p.get(0); b=p.get(1); a.f=clean; sink(b.f): b.f keeps what it had. */
class ListOfObjectsBad {
    static void m(List<Box> p) {
        Box a = p.get(0);
        Box b = p.get(1);
        a.text = "clean";
        Log.i("sample", b.text);
    }

    static void run(String imei) {
        List<Box> list = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Box box = new Box();
            box.text = imei;
            list.add(box);
        }
        m(list);
    }
}

class NestedBad {
    static void run(String imei) {
        Map<String, List<Box>> map = new HashMap<>();
        map.put("a", new ArrayList<Box>());
        map.get("a").add(new Box());
        map.get("a").get(0).text = imei;
        Log.i("sample", map.get("a").get(0).text);
    }
}

class SizeOk {
    static void run(String imei) {
        List<String> list = new ArrayList<>();
        list.add(imei);
        Log.i("sample", String.valueOf(list.size()));
    }
}

class CopyConstructorBad {
    static void run(String imei) {
        List<String> one = new ArrayList<>();
        one.add(imei);
        List<String> two = new LinkedList<>(one);
        Log.i("sample", two.get(0));
    }
}

class SparseArrayBad {
    static void run(String imei) {
        SparseArray<String> array = new SparseArray<>();
        array.put(7, imei);
        Log.i("sample", array.get(7));
    }
}
