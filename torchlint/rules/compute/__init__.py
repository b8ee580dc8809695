"""Rules about computing in a slow mode."""
