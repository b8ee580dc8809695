# refused: torch.compiler.load_cache_artifacts is not on the list
import torch


def flagged(x):
    torch.compiler.load_cache_artifacts(b"")
    return x
