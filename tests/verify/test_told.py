"""What the semantic model adds to what a function's own text tells of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from torchlint.findings import Finding
from torchlint.verify.plan import Choices, make
from torchlint.verify.told import Told, refined, told

TEXT = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, width, bands):
        super().__init__()
        self.layer = nn.Linear(width, bands)

    def forward(self, x):
        return self.layer(x)


def score(x, scale):
    return x * scale


def main():
    head = Head(48, 6)
    return score(head(torch.randn(2, 48)), 3)
"""
TENSOR: dict[str, Any] = {"kind": "tensor", "rank": None, "dtype": "open"}
GUESS: dict[str, Any] = {"kind": "guess", "value": 4, "others": [1]}


def test_callers_tell_numbers_and_tensors() -> None:
    known = told(TEXT)
    assert (known["Head.__init__", "width"].value, known["Head.__init__", "bands"].value) == (48, 6)
    assert known["Head.forward", "x"].kinds == ("tensor",)
    assert known["score", "scale"].value == 3
    assert known["main", "head"].kinds == ("network", "own")


@pytest.mark.parametrize(
    ("described", "known", "wanted"),
    [
        ({"kind": "choice", "of": [GUESS, TENSOR]}, Told(("tensor",)), "tensor"),
        ({"kind": "choice", "of": [TENSOR, GUESS]}, Told(("number", "guess")), "guess"),
        ({"kind": "choice", "of": [TENSOR, GUESS]}, Told(("number", "guess"), 7), 7),
        (TENSOR, Told(("number", "guess"), 7), 7),
        (GUESS, Told(("number", "guess")), "guess"),
        ({"kind": "network"}, Told(("tensor",)), "network"),
        (TENSOR, None, "tensor"),
    ],
)
def test_a_description_takes_what_is_known(described: dict[str, Any], known: Told | None, wanted: Any) -> None:
    made = refined(described, known)
    assert made.get("value" if type(wanted) is int else "kind") == wanted


def test_a_known_shape_is_the_shape_and_a_rank_a_rank() -> None:
    assert refined(TENSOR, Told(("tensor",), rank=2, shape=(3, 4)))["shape"] == [3, 4]
    assert refined(TENSOR, Told(("tensor",), rank=3))["rank"] == 3
    assert refined({**TENSOR, "rank": 2}, Told(("tensor",), rank=3))["rank"] == 2  # its own text is nearer


def test_plans_ask_what_callers_pass(make_finding: Callable[..., Finding]) -> None:
    text = TEXT.replace("return x * scale", "return (x * scale).sum().item()")
    made = make([make_finding(text, "(x * scale).sum().item()")], lambda *_: text.split("\n"), Choices("small"))
    scale = made["experiments"][0]["arguments"][1]
    assert (scale["value"], scale["origin"]) == (3, "what its callers pass")
