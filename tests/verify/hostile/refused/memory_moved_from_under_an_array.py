# refused: numpy.from_dlpack is not on the list
import numpy as np
import torch


def flagged(x):
    held = torch.zeros(64)
    seen = np.from_dlpack(held)
    held.resize_(1 << 20)
    return seen.sum()
