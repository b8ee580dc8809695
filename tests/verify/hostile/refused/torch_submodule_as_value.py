# refused: the module torch.nn.functional is used as a value
import torch


def reach(module):
    return module.importlib.import_module("os")


def flagged(x):
    reach(torch.nn.functional)
    return x
