"""Counts that go on from a file which was put on the device, beside a tensor of that file."""

import math

import torch
from torch import nn


def rate(step):
    if step > 2000:
        return 1e-5
    ratio = step / 2000
    assert 0 <= ratio <= 1
    return 0.5 * (1.0 + math.cos(math.pi * ratio))


def train(net: nn.Module, loader, path):
    device = "cuda"
    net = net.to(device)
    optimizer = torch.optim.Adam(net.parameters(), fused=True)
    step = 0
    if path:
        checkpoint = torch.load(path, map_location=device)
        net.load_state_dict(checkpoint["net"])
        step = checkpoint["step"]
    for images in loader:
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        if path:
            print(checkpoint["mean"].item())  # TL101
        loss = net(images.to(device, non_blocking=True)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"{step}: {loss.item():.3f}")
        step += 1
