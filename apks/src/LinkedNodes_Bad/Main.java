package org.gdroid.samples.linkednodes;

import android.app.Activity;
import android.os.Bundle;
import android.telephony.TelephonyManager;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        String imei = ((TelephonyManager) getSystemService(TELEPHONY_SERVICE)).getDeviceId();
        TraversedBad.run(imei);
        FixedDepthBad.run(imei);
        OtherNodeOk.run(imei);
        OtherListOk.run(imei);
        CalleeReadsDeepBad.run(imei);
        CalleeReadsSiblingOk.run(imei);
        CalleeStoresDeepBad.run(imei);
        TreeBad.run(imei);
        CycleBad.run(imei);
        OwnContainerOk.run(imei);
        OwnContainerBad.run(imei);
    }
}

class Node {
    String text = "none";
    Node next;
    Node other;

    Node(Node next) {
        this.next = next;
    }
}

class TraversedBad {
    static void run(String imei) {
        Node head = null;
        for (int i = 0; i < 8; i++) {
            head = new Node(head);
            if (i == 2) {
                head.text = imei;
            }
        }
        for (Node node = head; node != null; node = node.next) {
            Log.i("sample", node.text);
        }
    }
}

class FixedDepthBad {
    static void run(String imei) {
        Node last = new Node(null);
        Node head = new Node(new Node(new Node(new Node(new Node(last)))));
        last.text = imei;
        Log.i("sample", head.next.next.next.next.next.text);
    }
}

class OtherNodeOk {
    static void run(String imei) {
        Node last = new Node(null);
        Node middle = new Node(last);
        Node head = new Node(middle);
        last.text = imei;
        Log.i("sample", head.next.text);
    }
}

class OtherListOk {
    static void run(String imei) {
        Node one = new Node(new Node(null));
        Node two = new Node(new Node(null));
        one.next.text = imei;
        Log.i("sample", two.next.text);
    }
}

/** Deeper than any access path that a summary keeps. */
class CalleeReadsDeepBad {
    static String read(Node p) {
        return p.next.next.next.next.next.next.text;
    }

    static void run(String imei) {
        Node last = new Node(null);
        Node head = new Node(new Node(new Node(new Node(new Node(new Node(last))))));
        last.text = imei;
        Log.i("sample", read(head));
    }
}

class CalleeReadsSiblingOk {
    static String read(Node p) {
        return p.next.other.text;
    }

    static void run(String imei) {
        Node head = new Node(new Node(null));
        head.next.next = new Node(null);
        head.next.other = new Node(null);
        head.next.next.text = imei;
        Log.i("sample", read(head));
    }
}

class CalleeStoresDeepBad {
    static void write(Node p, String value) {
        p.next.next.next.next.next.text = value;
    }

    static void run(String imei) {
        Node last = new Node(null);
        Node head = new Node(new Node(new Node(new Node(new Node(last)))));
        write(head, imei);
        Log.i("sample", last.text);
    }
}

class TreeBad {
    static Node grow(int depth, String text) {
        Node node = new Node(null);
        node.text = text;
        if (depth > 0) {
            node.next = grow(depth - 1, text);
            node.other = grow(depth - 1, text);
        }
        return node;
    }

    static String any(Node node) {
        return node.other == null ? node.text : any(node.other);
    }

    static void run(String imei) {
        Log.i("sample", any(grow(3, imei)));
    }
}

class CycleBad {
    static void run(String imei) {
        Node a = new Node(null);
        Node b = new Node(a);
        a.next = b;
        a.text = imei;
        Log.i("sample", b.next.next.next.text);
    }
}

class Stack {
    private Node top;
    private int size;

    void push(String text) {
        top = new Node(top);
        top.text = text;
        size++;
    }

    String pop() {
        String text = top.text;
        top = top.next;
        size--;
        return text;
    }
}

class OwnContainerOk {
    static void run(String imei) {
        Stack one = new Stack();
        Stack two = new Stack();
        one.push(imei);
        two.push("none");
        Log.i("sample", two.pop());
    }
}

class OwnContainerBad {
    static void run(String imei) {
        Stack one = new Stack();
        Stack two = new Stack();
        one.push(imei);
        one.push("none");
        two.push("none");
        one.pop();
        Log.i("sample", one.pop());
    }
}
