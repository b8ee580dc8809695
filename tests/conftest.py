"""What all tests share."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# A terminal's width and colours must not change what a test sees; NumPy and torch need no more than one thread here.
os.environ.update(COLUMNS="120", NO_COLOR="1", OMP_NUM_THREADS="1")

# A busy machine is no failure.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none."""
    if item.get_closest_marker("cuda") is not None:
        import torch  # most runs have no such test, and torch takes seconds to load

        if not torch.cuda.is_available():
            pytest.skip("needs a CUDA device")
