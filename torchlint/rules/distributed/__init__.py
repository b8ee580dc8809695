"""Rules for replicas that wait for each other."""
