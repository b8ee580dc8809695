# refused: torch.ops is not on the list
import torch


def flagged(x):
    torch.ops.load_library("/tmp/evil.so")
    return x
