# refused: torch.cuda.ExternalStream is not on the list
import torch


def flagged(x):
    torch.cuda.ExternalStream(4096)
    return x
