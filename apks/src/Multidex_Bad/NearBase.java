package org.gdroid.samples.multidex;

class NearBase {
    String text;
    String name = "none";
}
