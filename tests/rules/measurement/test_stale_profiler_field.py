"""TL708: profiler fields that are gone."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "sorted, in a comprehension, behind an alias": """
from torch.profiler import profile as watch
def top(f, x):
    with watch() as p:
        f(x)
    rows = sorted(p.key_averages(), key=lambda r: -r.self_cuda_time_total)  # TL708
    return [r.cuda_memory_usage for r in rows]  # TL708
""",
    "in a method, by getattr": """
class R:
    def report(self, p):
        for e in p.events():
            print(getattr(e, "self_cuda_time_total", 0))  # TL708
        return p.total_average().cuda_time_total  # TL708
""",
}

SILENT = {
    "sort keys, new names, both releases, a namesake": """
from torch.profiler import profile
def table(p):
    print(p.key_averages().table(sort_by="self_cuda_time_total"))
    return [e.self_device_time_total for e in p.key_averages()]
""",
    "both releases are served": """
def total(p):
    return sum(
        e.self_device_time_total if hasattr(e, "self_device_time_total") else e.self_cuda_time_total
        for e in p.key_averages()
    )
""",
    "somebody's own class": """
class Row:
    cuda_time_total: float = 0.0
def worst(rows: list[Row]):
    return max(r.cuda_time_total for r in rows)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL708")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL708")
