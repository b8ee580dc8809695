# refused: getattr is used as a value
from functools import partial

take = partial(getattr)


def flagged(x):
    take(x, "__class__")
    return x
