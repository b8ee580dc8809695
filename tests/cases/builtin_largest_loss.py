"""Python's max over device scalars, and its any over a mask."""

import torch
from torch import nn


class Worst(nn.Module):
    def forward(self, outs, gold):
        terms = [nn.functional.mse_loss(out, gold) for out in outs]
        worst = max(terms)  # TL107
        if any(torch.isnan(t) for t in terms):  # TL107
            return worst * 0
        return worst
