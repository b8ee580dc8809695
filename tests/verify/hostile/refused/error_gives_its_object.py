# refused: the attribute obj is never allowed
import torch


def flagged(x):
    try:
        torch.amp.autocast("none")
    except AttributeError as error:
        return error.obj
