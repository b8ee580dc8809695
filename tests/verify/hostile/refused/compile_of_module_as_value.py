# refused: the attribute compile is used as a value
import torch


def backend(module, inputs):
    return module.forward


def flagged(x):
    net = torch.nn.Linear(4, 4)
    fast = net.compile
    fast(backend=backend)
    return net(x)
