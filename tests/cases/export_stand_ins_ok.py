"""A function that stands for an operator of ONNX, lists of single numbers, zeros of a size that was read."""

import numpy as np
import torch
from torch import nn


class Suppress(torch.autograd.Function):
    @staticmethod
    def forward(ctx, boxes, scores):
        count = 100
        picked = torch.randint(0, len(scores), (count,)).sort()[0].to(boxes.device)
        return torch.cat([picked[None], torch.arange(count).to(boxes.device)[None]])

    @staticmethod
    def symbolic(g, boxes, scores):
        return g.op("NonMaxSuppression", boxes, scores)


class Order(nn.Module):
    def __init__(self, side):
        super().__init__()
        table = np.arange(side * side).reshape(side, side)
        picked = []
        for i in range(side):
            for j in range(side):
                picked.append(table[i, side - j - 1])
        self.register_buffer("picked", torch.tensor(picked))
        self.register_buffer("counted", torch.tensor([np.int64(i * 2) for i in range(side)]))

    def forward(self, x):
        return x[:, self.picked]


class Padded(nn.Module):
    def forward(self, x):
        longest = x.abs().sum((0, 2)).topk(3).indices.cpu().numpy()  # TL103
        parts = []
        for i in range(3):
            parts.append(torch.cat([x, torch.zeros(len(x), longest[i], x.shape[2]).to(x.device)], dim=1))  # TL508
        return parts
