# refused: torch.jit.script is not on the list
import torch.jit


def flagged(x):
    return torch.jit.script(lambda y: y)(x)
