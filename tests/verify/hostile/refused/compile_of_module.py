# refused: compile is called with backend
import torch


def backend(module, inputs):
    return module.forward


def flagged(x):
    net = torch.nn.Linear(4, 4)
    net.compile(backend=backend)
    return net(x)
