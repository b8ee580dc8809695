# refused: torch.compile is called with options
import torch


def flagged(x):
    return torch.compile(lambda y: y + 1, options={"cpp.cxx": ("/bin/sh",)})(x)
