"""Attention's weights go into another product as well, where the module was made so; or where a call asks for it."""

import torch
from torch import nn


class Local(nn.Module):
    def __init__(self, freqs):
        super().__init__()
        self.freqs = freqs

    def forward(self, q, k, v, table):
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)
        out = weights @ v
        if self.freqs:
            out = out + torch.einsum("bhts,fts->bhtf", weights, table)
        return out


class Plain(nn.Module):
    def forward(self, q, k, v):
        weights = torch.softmax(q @ k.transpose(-2, -1), dim=-1)  # TL302
        return weights @ v
