"""TL609: sizes that change on every step."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "the longest row, by a name and in a helper": """
import torch
def room(rows, n):
    return torch.zeros(len(rows), n, device="cuda")
def go(f, o, d):
    for rows in d:
        n = max(map(len, rows))
        a = torch.full((len(rows), n), 0, device="cuda")  # TL609
        f(a).sum().backward()
        o.step()
""",
    "padded on the device": """
from torch.nn.utils import rnn
class R:
    def fit(self, f, o, d):
        for rows in d:
            f(rnn.pad_sequence([r.cuda() for r in rows])).sum().backward()  # TL609
            o.step()
""",
    "the step's own count": """
import torch
@torch.no_grad()
def decode(f, x, n):
    f.cuda()
    for t in range(1, n):
        mask = torch.ones(t, t, device="cuda")  # TL609
        x = f(x, mask)
    return x
""",
}

SILENT = {
    "rounded up, fixed, or the allocator grows": """
import torch
def up(n):
    return -(-n // 64) * 64
def go(f, o, d, width):
    for rows in d:
        n = up(max(map(len, rows)))
        a = torch.zeros(len(rows), n, device="cuda")
        b = torch.zeros(len(rows), width, device="cuda")
        c = torch.zeros(len(rows), (max(map(len, rows)) + 63) // 64 * 64, device="cuda")
        f(a, b, c).sum().backward()
        o.step()
""",
    "expandable segments": """
import os, torch
from torch.nn.utils.rnn import pad_sequence
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
def go(f, o, d):
    for rows in d:
        f(pad_sequence(rows)).sum().backward()
        o.step()
""",
    "in a loader's worker, on the host, once": """
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader
def merge(rows):
    return pad_sequence(rows)
def feed(rows):
    return DataLoader(rows, collate_fn=merge)
def once(f, rows):
    return f(pad_sequence(rows))
def host(f, o, d):
    for rows in d:
        index = torch.zeros(max(map(len, rows)))
        f(rows, index).sum().backward()
        o.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL609")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL609")
