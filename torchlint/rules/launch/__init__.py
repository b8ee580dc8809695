"""Rules about code whose time goes into launching many small kernels."""
