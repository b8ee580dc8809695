"""A function that is compiled by a decorator with options writes to the console."""

import sys
import warnings

import torch


@torch.compile(mode="reduce-overhead")
def mix(a, b):
    if a.shape != b.shape:
        warnings.warn("shapes differ", stacklevel=2)  # TL803
    sys.stdout.write("mix\n")  # TL803
    return a @ b
