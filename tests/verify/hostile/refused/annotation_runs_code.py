# refused: torch.sys is not on the list
import torch


def flagged(x: torch.sys.modules["os"].system("true")):
    return x
