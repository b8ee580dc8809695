# not run: it changed torch.nn.modules.linear.Linear.calls
import torch

LAYER = [torch.nn.Linear][0]


def flagged(x):
    LAYER.calls = getattr(LAYER, "calls", 0) + 1
    return x
