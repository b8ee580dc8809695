# not run: it changed torch.Tensor.item
import torch


def replace(owner):
    owner.item = lambda self: 0.0


def flagged(x):
    replace(torch.Tensor)
    return x.sum().item()
