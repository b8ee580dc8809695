"""What stand-ins and arguments are made of."""

from __future__ import annotations

import copy

import torch

from torchlint.verify.standins import sample, tensors


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
