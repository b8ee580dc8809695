"""Rules for programs that are measured wrongly."""
