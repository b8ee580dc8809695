# not run: memory limit
import torch


def flagged(x):
    kept = torch.ones(1 << 20)
    while True:
        kept = torch.cat([kept, kept])
