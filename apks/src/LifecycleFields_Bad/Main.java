package org.gdroid.samples.lifecyclefields;

import android.app.Activity;

public class Main extends Activity {}
