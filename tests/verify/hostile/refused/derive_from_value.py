# refused: has a base that is no class
import torch


def flagged(x):
    class Own(type(x)):
        pass

    return x
