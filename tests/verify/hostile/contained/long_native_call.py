# not run: time limit
import torch


def flagged(x):
    big = torch.ones(2500, 2500)
    for _ in range(1000):
        x = x + torch.linalg.svd(big)[1].sum()
    return x
