# refused: torch.compile is used as a value
import functools

import torch

fast = functools.partial(torch.compile)


def backend(module, inputs):
    return module.forward


def flagged(x):
    return fast(lambda y: y + 1, backend=backend)(x)
