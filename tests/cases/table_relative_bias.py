"""A table of relative distances is made anew by every layer."""

import torch
from torch import nn


class Relative(nn.Module):
    def __init__(self, heads, far=128):
        super().__init__()
        self.far = far
        self.bias = nn.Embedding(2 * far + 1, heads)

    def forward(self, score):
        n = score.size(-1)
        at = torch.arange(n, device=score.device)
        apart = (at[None] - at[:, None]).clamp(-self.far, self.far) + self.far  # TL210
        return score + self.bias(apart).permute(2, 0, 1)
