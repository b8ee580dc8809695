# refused: torch.hub is not on the list
import torch as t

h = t.hub


def flagged(x):
    h.os.system("true")
    return x
