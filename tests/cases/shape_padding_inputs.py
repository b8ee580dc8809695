"""An encoder unpads its input with a flat index of the tokens."""

import torch
from torch import nn


class Unpad(nn.Module):
    def forward(self, hidden, mask):
        index = torch.nonzero(mask.flatten(), as_tuple=False).flatten()  # TL105
        return hidden.flatten(0, 1).index_select(0, index), index
