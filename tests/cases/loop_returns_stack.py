"""Comprehensions over rows, where one call does all of them."""

import torch
from torch import nn
from torch.nn import functional as F


class Rows(nn.Module):
    def forward(self, left, right):
        near = torch.stack([F.cosine_similarity(a, b, dim=0) for a, b in zip(left, right)])  # TL201?
        size = torch.stack([row.norm() for row in left])  # TL201?
        return near * size
