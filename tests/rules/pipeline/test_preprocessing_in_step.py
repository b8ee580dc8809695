"""TL513: the training process prepares its input itself."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

HEAD = """
import json
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader as Feed
from transformers import AutoTokenizer
words = AutoTokenizer.from_pretrained("base")

def picture(name):
    return {work}  {mark}
"""


@pytest.mark.parametrize("work", ["np.load(name)", "Image.open(name)", "words(name, padding=True)", "json.loads(name)"])
def test_prepared_in_the_loop_that_trains(work: str) -> None:
    check(
        HEAD.format(work=work, mark="# TL513")
        + """
def run(net, opt, names):
    for batch in Feed(names, num_workers=2):
        parts = [picture(name) for name in batch]
        net(parts).sum().backward()
        opt.step()
""",
        "TL513",
    )


def test_prepared_by_workers_once_or_for_an_answer() -> None:
    check(
        HEAD.format(work="np.load(name)", mark="")
        + """
def run(net, opt, names, world):
    first = picture(names[0])
    for batch in Feed(names, num_workers=2, collate_fn=lambda rows: [picture(row) for row in rows]):
        net(batch, first).sum().backward()
        opt.step()
    for _ in range(100):
        net(json.loads(world.ask())).sum().backward()
        opt.step()
""",
        "TL513",
    )
