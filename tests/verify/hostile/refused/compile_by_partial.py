# refused: torch.compile is called with options
import functools

import torch

fast = functools.partial(torch.compile, options={"trace.enabled": True})


def flagged(x):
    return fast(lambda y: y + 1)(x)
