package org.gdroid.samples.locationcallbacks;

import android.app.Activity;
import android.location.Location;
import android.location.LocationListener;
import android.location.LocationManager;
import android.os.Bundle;
import android.util.Log;

public class Main extends Activity {
    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        LocationManager manager = (LocationManager) getSystemService(LOCATION_SERVICE);
        manager.requestLocationUpdates(LocationManager.GPS_PROVIDER, 1000, 1, new ListenerBad());
        manager.requestLocationUpdates(LocationManager.GPS_PROVIDER, 1000, 1, new ProviderNameOk());
        new NeverRegisteredOk();
        LastKnownBad.run(manager);
    }
}

abstract class Listener implements LocationListener {
    @Override
    public void onStatusChanged(String provider, int status, Bundle extras) {}

    @Override
    public void onProviderEnabled(String provider) {}

    @Override
    public void onProviderDisabled(String provider) {}
}

class ListenerBad extends Listener {
    @Override
    public void onLocationChanged(Location location) {
        double latitude = location.getLatitude();
        Log.d("sample", "latitude " + latitude);
    }
}

class ProviderNameOk extends Listener {
    @Override
    public void onLocationChanged(Location location) {}

    @Override
    public void onProviderEnabled(String provider) {
        Log.d("sample", provider);
    }
}

class NeverRegisteredOk extends Listener {
    @Override
    public void onLocationChanged(Location location) {
        Log.d("sample", String.valueOf(location.getLatitude()));
    }
}

class LastKnownBad {
    static void run(LocationManager manager) {
        Location location = manager.getLastKnownLocation(LocationManager.GPS_PROVIDER);
        if (location != null) {
            Log.d("sample", String.valueOf(location.getLongitude()));
        }
    }
}
