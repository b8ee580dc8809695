"""Builtins over numbers, lists of sizes and host arrays; torch's own reductions."""

import numpy as np
import torch
from torch import nn


class Sizes(nn.Module):
    def forward(self, maps: list[torch.Tensor], spatial_shapes: list[tuple[int, int]]):
        tallest = max(m.shape[-2] for m in maps)
        widest = max(w for _, w in spatial_shapes)
        area = sum(h * w for h, w in spatial_shapes)
        order = sorted(maps, key=lambda m: m.shape[-1])
        flat = torch.cat([m.flatten(2) for m in order], dim=2)
        top = torch.max(flat, dim=2).values
        return top.clamp(min=min(tallest, widest)), area, any(m.requires_grad for m in maps)


def spread(rows: np.ndarray):
    return max(rows) - min(rows)
