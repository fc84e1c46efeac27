package org.gdroid.samples.implicitintent;

import android.app.Activity;

public class Quiet extends Activity {}
