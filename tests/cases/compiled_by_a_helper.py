"""A decorator of the program's own hands what it is given on to the compiler, where there is one."""

import sys

import torch


def compiled(*args, **options):
    if sys.platform == "win32":
        return lambda function: function
    return torch.compile(*args, **options)


def announced(*args, **options):
    return lambda function: function


@compiled(dynamic=True)
def poses(x: torch.Tensor) -> torch.Tensor:
    print("poses of", x.shape[0])  # TL803
    return x[:, :3, :3].transpose(1, 2)


@announced("poses")
def plain(x: torch.Tensor) -> torch.Tensor:
    print("poses of", x.shape[0])
    return x[:, :3, :3].transpose(1, 2)
