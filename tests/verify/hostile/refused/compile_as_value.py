# refused: torch.compile is used as a value
import torch

tools = [torch.compile]


def flagged(x):
    return tools[0](lambda y: y + 1, options={})(x)
