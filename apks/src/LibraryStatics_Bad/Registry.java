package com.google.gson.internal;

/** Stands for a library class with mutable statics. */
public class Registry {
    public static Registry current;
    private static String memory;

    public String text = "none";
    public String name = "registry";

    public static void remember(String value) {
        memory = value;
    }

    public static String recall() {
        return memory;
    }
}
