"""TL506, TL507, TL510: what loader workers must not do, and what they cost."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports

HEAD = """
import csv
import glob
import json
import torch
from torch.utils.data import DataLoader as Feed, Dataset
"""


@pytest.mark.parametrize(
    "work",
    [
        "return x.cuda()",
        "return x.to('cuda:0')",
        "return x + torch.zeros(3, device='cuda')",
        "return [part.cuda() for part in x]",
    ],
)
def test_cuda_in_a_dataset(work: str) -> None:
    check(
        f"""{HEAD}
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows
    def made(self, x):
        {work}  # TL506
    def __getitem__(self, k):
        return self.made(torch.tensor(self.rows[k]))

def feed(rows):
    return Feed(Rows(rows), num_workers=3)
""",
        "TL506",
    )


def test_cuda_in_a_collate_function_and_by_an_attribute() -> None:
    check(
        f"""{HEAD}
class Rows(Dataset):
    def __init__(self, rows, where="cuda"):
        self.rows, self.where = rows, torch.device(where)
    def __getitem__(self, k):
        return torch.tensor(self.rows[k]).to(self.where)  # TL506

def together(rows):
    return torch.stack(rows).cuda()  # TL506

def feeds(rows, n):
    return Feed(Rows(rows), num_workers=n), Feed(rows, num_workers=n, collate_fn=together)
""",
        "TL506",
    )


@pytest.mark.parametrize("workers", ["num_workers=0", "batch_size=8"])
def test_without_workers_the_device_is_at_hand(workers: str) -> None:
    check(
        f"""{HEAD}
class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows.cuda()
    def __getitem__(self, k):
        return self.rows[k].cuda(), torch.zeros(3).to(torch.float16)

def feed(rows):
    return Feed(Rows(rows), {workers})
""",
        "TL506",
    )


EPOCHS = """
def fit(step, rows, epochs, options):
    feed = Feed(rows, {options})  {mark}
    for _ in range(epochs):
        {between}
        for batch in feed:
            step(batch).backward()
"""


@pytest.mark.parametrize(
    ("options", "between", "mark"),
    [
        ("num_workers=4", "pass", "# TL507"),
        ("num_workers=4, persistent_workers=False", "pass", "# TL507"),
        ("num_workers=4, persistent_workers=True", "pass", ""),
        ("num_workers=4, **options", "pass", ""),
        ("num_workers=0", "pass", ""),
        ("batch_size=4", "pass", ""),
        ("num_workers=4", "rows.advance()", ""),
        ("num_workers=4", "feed.dataset.level = 3", ""),
    ],
)
def test_workers_that_end_with_the_epoch(options: str, between: str, mark: str) -> None:
    check(HEAD + EPOCHS.format(options=options, between=between, mark=mark), "TL507")


def test_one_pass_needs_its_workers_once() -> None:
    check(
        f"{HEAD}\ndef go(step, rows):\n    for b in Feed(rows, num_workers=2):\n        step(b).backward()\n", "TL507"
    )


def test_the_epoch_in_a_method_and_its_repair() -> None:
    source = f"""{HEAD}
class Recipe:
    def __init__(self, rows):
        self.feed = Feed(rows, num_workers=2)  # TL507
    def once(self, step):
        for batch in self.feed:
            step(batch).backward()
    def run(self, step):
        for epoch in range(100):
            self.once(step)
"""
    check(source, "TL507")
    ((_, report),) = reports(source, "TL507")
    assert report.fix is not None
    assert [edit.content for edit in report.fix.edits] == [", persistent_workers=True"]


@pytest.mark.parametrize(
    ("kept", "mark"),
    [
        ("[json.loads(line) for line in open(path)]", "# TL510"),
        ("sorted(glob.glob(path))", "# TL510"),
        ("list(csv.reader(open(path)))", "# TL510"),
        ("{k: v for k, v in json.load(open(path)).items()}", "# TL510"),
        ("torch.load(path)", ""),
        ("[0, 1, 2]", ""),
        ("[n * 2 for n in (1, 2, 3)]", ""),
    ],
)
def test_an_index_of_python_objects(kept: str, mark: str) -> None:
    check(
        f"""{HEAD}
class Rows(Dataset):
    def __init__(self, path):
        self.held = {kept}  {mark}
    def __getitem__(self, k):
        return torch.tensor(self.held[k])

def feed(path):
    return Feed(Rows(path), num_workers=8)
""",
        "TL510",
    )


@pytest.mark.parametrize("workers", ["num_workers=1", "batch_size=4"])
def test_an_index_that_no_second_process_reads(workers: str) -> None:
    check(
        f"""{HEAD}
class Rows(Dataset):
    def __init__(self, path):
        self.held = [json.loads(line) for line in open(path)]
    def __getitem__(self, k):
        return self.held[k]

def feed(path):
    return Feed(Rows(path), {workers})
""",
        "TL510",
    )
