"""TL706: profilers around the whole training."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "around a training loop": """
import torch
def go(f, o, d):
    with torch.profiler.profile() as p:  # TL706
        for b in d:
            f(b).mean().backward()
            o.step()
    print(p.key_averages())
""",
    "behind an alias, around a helper that trains": """
from torch.profiler import profile as watch
def epoch(f, o, d):
    for b in d:
        f(b).mean().backward()
        o.step()
def main(f, o, d):
    with watch(record_shapes=True):  # TL706
        epoch(f, o, d)
""",
}

SILENT = {
    "a schedule, a wish, a few steps": """
import itertools, torch
def go(f, o, d, args):
    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=2)) as p:
        for b in d:
            f(b).mean().backward()
            o.step()
            p.step()
    if args.profile:
        with torch.profiler.profile():
            for b in d:
                f(b).mean().backward()
                o.step()
    with torch.profiler.profile():
        for b in itertools.islice(d, 5):
            f(b).mean().backward()
            o.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL706")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL706")
