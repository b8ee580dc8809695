# refused: torch.os is not on the list
import torch


def flagged(x):
    torch.os.system("true")
    return x
