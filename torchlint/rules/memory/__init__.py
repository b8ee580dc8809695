"""Rules for programs whose device memory fills."""
