# refused: torch.nn.ParameterDict is not on the list
import torch


def flagged(x):
    torch.nn.ParameterDict({"__array_interface__": {"data": (4096, False)}})
    return x
