# refused: torch.compiler.set_stance is called with more than a stance
import torch


def backend(module, inputs):
    return module.forward


torch.compiler.set_stance("default", force_backend=backend)


def flagged(x):
    return x
