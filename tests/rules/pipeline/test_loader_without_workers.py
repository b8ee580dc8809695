"""TL501: a loader without workers whose dataset does work for each sample."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

HEAD = """
import json
import torch
from PIL import Image
from torch.utils import data
from torch.utils.data import DataLoader as Feed, Dataset, Subset, TensorDataset, random_split
from torchvision.datasets import CIFAR10

class Opened(Dataset):
    def __init__(self, names):
        self.names = names
    def __len__(self):
        return len(self.names)
    def fetch(self, name):
        return Image.open(name)
    def __getitem__(self, k):
        return self.fetch(self.names[k])

class Given(Dataset):
    def __init__(self, rows, change):
        self.rows, self.change = rows, change
    def __getitem__(self, k):
        return self.change(self.rows[k])

class Lines(data.IterableDataset):
    def __iter__(self):
        for line in open("lines"):
            yield json.loads(line)

class Held(Dataset):
    def __init__(self, a, b):
        self.a, self.b = torch.tensor(a), b
    def __getitem__(self, k):
        return self.a[k].float() / 255, torch.as_tensor(self.b[k], dtype=torch.long)
"""


@pytest.mark.parametrize(
    "line",
    [
        "Feed(Opened(names), batch_size=4)",  # work in a method that __getitem__ calls
        "data.DataLoader(dataset=Opened(names), shuffle=True, num_workers=0)",
        "Feed(Given(names, change))",  # a callable that the dataset was given
        "Feed(Lines(), 32)",
        "Feed(Subset(Opened(names), range(10)), 32, True)",
        "Feed(random_split(Opened(names), [8, 2])[0], 32)",
        "Feed(CIFAR10('.', transform=change), 32)",
        "Feed(Opened(names), **dict(batch_size=8, shuffle=True))",  # all options stand there
        "[Feed(Opened(part), batch_size=4) for part in names][0]",
        "Feed(TensorDataset(names), collate_fn=lambda rows: [Image.open(row) for row in rows])",
    ],
)
def test_work_without_workers(line: str) -> None:
    check(f"{HEAD}\ndef make(names, change):\n    return {line}  # TL501\n", "TL501")


def test_in_a_method_and_behind_a_name() -> None:
    check(
        HEAD
        + """
class Recipe:
    def __init__(self, names):
        self.source = Opened(names)
    def feed(self):
        maker = Feed
        return maker(self.source, batch_size=2)  # TL501
""",
        "TL501",
    )


@pytest.mark.parametrize(
    "line",
    [
        "Feed(Opened(names), num_workers=4)",
        "Feed(Opened(names), num_workers=options.workers)",
        "Feed(Opened(names), **options)",
        "Feed(Opened(names), 8, False, None, None, 2)",
        "Feed(Held(names, names))",
        "Feed(TensorDataset(names))",
        "Feed([(1, 2), (3, 4)], batch_size=2)",
        "Feed(Opened(names), **dict(num_workers=8))",
        "Feed(Opened(names), **{**options, 'batch_size': 8})",
    ],
)
def test_nothing_to_gain_or_decided_elsewhere(line: str) -> None:
    check(f"{HEAD}\ndef make(names, options):\n    return {line}\n", "TL501")


def test_options_that_are_added_by_name_or_unseen() -> None:
    check(
        f"""{HEAD}
def make(names, options, n, given={{}}):
    plain = {{"batch_size": 8}}
    plain["shuffle"] = True
    wider = {{"batch_size": 8}}
    wider.update(options)
    threaded = {{"batch_size": 8}}
    threaded["num_workers"] = n
    filled = dict(batch_size=8)
    fill(filled)
    return [
        Feed(Opened(names), **plain),  # TL501
        Feed(Opened(names), **wider),
        Feed(Opened(names), **threaded),
        Feed(Opened(names), **filled),
        Feed(Opened(names), **given),
    ]
""",
        "TL501",
    )


def test_a_test_may_load_in_its_own_process() -> None:
    check(f"import pytest\n{HEAD}\ndef test_it():\n    assert list(Feed(Opened(['a'])))\n", "TL501")


def test_a_model_on_the_host_that_is_not_trained_is_possible() -> None:
    check(
        f"""{HEAD}
def embed(net, names):
    with torch.no_grad():
        return [net(row) for row in Feed(Opened(names))]  # TL501
""",
        "TL501",
        possible=True,
    )


def test_unknown_dataset_is_possible() -> None:
    check(
        """
from torch.utils.data import DataLoader

def make(rows):
    return DataLoader(rows, batch_size=8)  # TL501
""",
        "TL501",
        possible=True,
    )
