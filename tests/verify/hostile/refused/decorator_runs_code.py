# refused: torch.os is not on the list
import torch


def trace(function):
    torch.os.system("true")
    return function


@trace
def flagged(x):
    return x
