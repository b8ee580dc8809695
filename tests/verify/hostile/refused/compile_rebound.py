# refused: torch.compile is bound to a name that stands for something else
from torch import compile as fast

if False:
    fast = None


def backend(module, inputs):
    return module.forward


def flagged(x):
    return fast(lambda y: y + 1, backend=backend)(x)
