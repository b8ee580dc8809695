"""What stand-ins and arguments are made of."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable

import pytest
import torch

from torchlint.verify.standins import MODULE, Builder, Unfit, rearranged, sample, tensors


def test_all_tensors_of_a_large_network_are_found_however_often_it_is_looked_at() -> None:
    network = torch.nn.Sequential(*(torch.nn.Linear(4, 4) for _ in range(50)))
    both = [network, copy.deepcopy(network)]
    for one in both:
        assert {id(found) for found in tensors(torch, (one,))} >= {id(parameter) for parameter in one.parameters()}


def test_a_sample_has_what_a_batch_has_without_its_first_dimension() -> None:
    batch = ({"x": torch.arange(6).reshape(3, 2)}, torch.arange(3), 7)
    first, label, number = sample(torch, batch, 1)
    assert first["x"].tolist() == [2, 3]
    assert (int(label), number) == (1, 7)


@pytest.mark.parametrize("path", ["__getattribute__", "__class__", "torch", "missing", "update_wrapper", "dict"])
def test_an_object_of_a_class_of_the_code_is_of_no_other_thing(path: str) -> None:
    module = types.ModuleType("measured")
    own = type("_Kept", (dict,), {"__module__": MODULE})
    vars(module).update(torch=torch, _Kept=own, dict=dict, update_wrapper=functools.update_wrapper)
    builder = Builder(torch, torch.device("cpu"), module, {}, {})
    assert builder.make({"kind": "own", "path": "_Kept", "kwargs": {"a": 1}}) == {"a": 1}
    with pytest.raises(Unfit):
        builder.make({"kind": "own", "path": path, "kwargs": {"*names": "torch"}})


@pytest.mark.parametrize(
    ("pattern", "sizes", "wanted"),
    [
        ("b n (h d) -> b h n d", {"h": 2}, lambda x: x.reshape(2, 6, 2, 4).transpose(1, 2)),
        ("b (h w) d -> b d h w", {"w": 3}, lambda x: x.reshape(2, 2, 3, 8).permute(0, 3, 1, 2)),
        ("... d -> (...) 1 d", {}, lambda x: x.reshape(12, 1, 8)),
        ("b n d -> b n d r", {"r": 3}, lambda x: x[..., None].repeat(1, 1, 1, 3)),
    ],
)
def test_patterns_of_axes(pattern: str, sizes: dict[str, int], wanted: Callable[[torch.Tensor], torch.Tensor]) -> None:
    x = torch.randn(2, 6, 8)
    assert torch.equal(rearranged(torch, x, pattern, **sizes), wanted(x))


def test_patterns_that_reduce_and_that_do_not_fit() -> None:
    x = torch.randn(2, 6, 8)
    assert torch.equal(rearranged(torch, x, "b n d -> b d", "max"), x.amax(1))
    for pattern in ("b n -> n b", "b n d -> b n", "b n (h d) -> b n h"):
        with pytest.raises(RuntimeError):
            rearranged(torch, x, pattern, h=3)
    with pytest.raises(KeyError):  # nothing but a reduction is looked up
        rearranged(torch, x, "b n d -> b d", "untyped_storage")
