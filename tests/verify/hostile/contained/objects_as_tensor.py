# not run: raised PermissionError: a view of an array of objects
import numpy as np
import torch


def flagged(x):
    return torch.asarray(np.array([flagged], dtype=object).data, dtype=torch.int64)
