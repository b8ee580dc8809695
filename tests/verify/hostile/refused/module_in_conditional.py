# refused: the attribute system is never allowed
import torch


def flagged(x):
    return (torch if x is None else torch).os.system("true")
