# refused: vars is never allowed
import torch


def flagged(x):
    vars(torch)["os"]
    return x
