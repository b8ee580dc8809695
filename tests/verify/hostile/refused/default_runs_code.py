# refused: torch.sys is not on the list
import torch


def flagged(x, modules=torch.sys.modules):
    return x
