"""Code behind a mode that a helper is never asked for on a step, or only after a failure, beside one that is."""

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def assign(self, boxes, targets, mode="gpu"):
        if mode == "cpu":
            boxes = boxes.cpu().float()
            targets = targets.cpu().float()
        if mode != "gpu":
            print("assigned on the host", boxes.shape)
        if mode == "gpu":
            boxes = boxes[boxes[:, 0] > 0]  # TL105
        return (boxes[:, None] - targets).abs().sum(-1).min(1).values

    def forward(self, boxes, targets):
        try:
            matched = self.assign(boxes * self.scale, targets)
        except RuntimeError:
            matched = self.assign(boxes * self.scale, targets, "cpu")
        return matched


class Predictor(nn.Module):
    def forward(self, x, mode="loss"):
        x = x.relu()
        if mode == "predict":
            return x.tolist()  # TL103
        return x.mean()
