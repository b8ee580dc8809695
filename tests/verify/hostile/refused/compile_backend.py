# refused: torch.compile is called with backend
import torch


def backend(graph, inputs):
    return graph.forward


def flagged(x):
    return torch.compile(lambda y: y + 1, backend=backend)(x)
