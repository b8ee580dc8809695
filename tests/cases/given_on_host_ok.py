"""Helpers that a loop calls with what is on the host, and a plot of the rounds that a list names."""

import torch
from torch import nn


def suppress(boxes: torch.Tensor, scores: torch.Tensor, threshold: float):
    overlaps = torch.cdist(boxes, boxes).triu(diagonal=1)
    return torch.nonzero((overlaps > threshold).sum(0) <= 0).squeeze(-1)


def thin(boxes: torch.Tensor, scores: torch.Tensor, threshold: float):
    return boxes[scores > threshold]  # TL105


def plot(images, names):
    print(names, images.max().item())


def once(boxes, scores):
    return suppress(boxes, scores, 0.5)


def merge(net: nn.Module, found: dict[str, list[list[float]]]):
    net = net.cuda()
    kept = {}
    for name, rows in found.items():
        boxes = torch.tensor(rows)
        kept[name] = net(boxes[suppress(boxes[:, :4], boxes[:, 4], 0.3)].cuda())
    return kept


def run(net: nn.Module, loader, epochs: int, rounds):
    net = net.cuda()
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    plot_at = [0, 1, 2]
    for epoch in range(epochs):
        for i, (images, names) in enumerate(loader):
            ni = i + epoch * rounds
            images = images.cuda(non_blocking=True)
            boxes, scores = net(images)
            loss = thin(boxes, scores, 0.5).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if ni in plot_at:
                plot(images, names)
