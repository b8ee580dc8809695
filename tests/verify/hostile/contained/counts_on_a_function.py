# not run: it changed torch.nn.functional.relu.calls
import torch


def count(place):
    place.calls = getattr(place, "calls", 0) + 1


def flagged(x):
    count(torch.nn.functional.relu)
    return x
