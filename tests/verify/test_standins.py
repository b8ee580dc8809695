"""What stand-ins and arguments are made of."""

from __future__ import annotations

import copy
import types

import pytest
import torch

from torchlint.verify.standins import Builder, Unfit, sample, tensors


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


@pytest.mark.parametrize("path", ["__getattribute__", "__class__", "torch", "missing"])
def test_an_object_of_a_class_of_the_code_is_of_no_other_thing(path: str) -> None:
    module = types.ModuleType("measured")
    vars(module).update(torch=torch, _Kept=dict)
    builder = Builder(torch, torch.device("cpu"), module, {}, {})
    assert builder.make({"kind": "own", "path": "_Kept", "kwargs": {"a": 1}}) == {"a": 1}
    with pytest.raises(Unfit):
        builder.make({"kind": "own", "path": path, "kwargs": {"*names": "torch"}})
