"""TL707: the synchronisation debugger left on."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "at the top, and in a method": """
import torch as th
th.cuda.set_sync_debug_mode("warn")  # TL707
class R:
    def __init__(self):
        th.cuda.set_sync_debug_mode(1)  # TL707
""",
}

SILENT = {
    "turned off again, or asked for": """
import torch
def look(f, x, args):
    torch.cuda.set_sync_debug_mode("error")
    try:
        f(x)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    if args.find_waits:
        torch.cuda.set_sync_debug_mode("warn")
    torch.cuda.set_sync_debug_mode(args.mode)
def quiet():
    torch.cuda.set_sync_debug_mode(0)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL707")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL707")
