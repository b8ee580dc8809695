# refused: torch is a module here and something else there
import torch


class Left:
    def __radd__(self, other):
        return other


torch += Left()


def flagged(x):
    return x
