"""What all tests share."""

from __future__ import annotations

import os

# A terminal's width and colours must not change what a test sees; NumPy and torch need no more than one thread here.
os.environ.update(COLUMNS="120", NO_COLOR="1", OMP_NUM_THREADS="1")
