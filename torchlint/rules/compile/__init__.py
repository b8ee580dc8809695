"""Rules for code that defeats the compiler."""
