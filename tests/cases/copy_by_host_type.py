"""A cast to one of the host's tensor classes copies; what is read of the copy waits for nothing."""

import torch
from torch import nn


class Windows(nn.Module):
    def forward(self, x, boxes):
        corners = boxes.type(torch.IntTensor)  # TL103
        found = []
        for left, right in corners:
            found.append(x[:, left:right].mean(dim=1))
        return torch.stack(found), corners.max().item()


class Cast(nn.Module):
    def forward(self, x, weight):
        return x.type(torch.float16) @ weight.type(torch.cuda.HalfTensor)
