# refused: torch.os is not on the list
import torch


def flagged(x):
    [t for t in [1] if torch.os.system("true")]
    return x
