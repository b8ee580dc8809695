# not run: deepcopy with a memo is not allowed
import copy

import numpy as np


class Kept:
    pass


def flagged(x):
    kept = Kept()
    kept.other = 1
    memo = {id("other"): "__array_interface__"}
    return np.asarray(copy.deepcopy(kept, memo))
