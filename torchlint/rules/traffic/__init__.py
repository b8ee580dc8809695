"""Rules about code that moves more bytes through device memory than its result needs."""
