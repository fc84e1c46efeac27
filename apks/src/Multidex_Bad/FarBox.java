package org.gdroid.samples.multidex;

class FarBox extends NearBase {
    void set(String value) {
        text = value;
    }
}
