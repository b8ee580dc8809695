"""Paths in, findings out: settings, screening, the cache, worker processes, and what is reported in the end."""
