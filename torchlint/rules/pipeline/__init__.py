"""Rules about input that does not arrive in time."""
