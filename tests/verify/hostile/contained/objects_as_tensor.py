# not run: raised PermissionError: asarray of a view of memory
import numpy as np
import torch


def flagged(x):
    return torch.asarray(np.array([flagged], dtype=object).data, dtype=torch.int64)
