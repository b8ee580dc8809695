# refused: torch.os is not on the list
import torch


def flagged(x):
    torch.ｏｓ.system("true")
    return x
