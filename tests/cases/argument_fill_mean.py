"""A pad value that is the mean of the row, taken where it stands."""

import torch
from torch import nn
from torch.nn import functional as F


class Pad(nn.Module):
    def forward(self, x):
        level = x.mean()
        wide = F.pad(x, (1, 1), value=level)  # TL108
        like = torch.full_like(x, fill_value=x.amin())  # TL108
        return wide.sum() + like.sum()
