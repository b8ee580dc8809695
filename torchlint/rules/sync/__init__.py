"""Rules about code in which the host waits for the device."""
