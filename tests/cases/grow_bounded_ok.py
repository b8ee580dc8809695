"""Joining new pieces, a window of fixed size, two halves, short loops."""

import torch
from torch import nn


class Dense(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(width * k, width, 3, padding=1) for k in (1, 2, 3))

    def forward(self, x):
        x = torch.cat([x, self.a(x)], dim=1)
        return torch.cat([x, self.b(x)], dim=1)


@torch.inference_mode()
def stream(net, frames, window):
    net = net.cuda().eval()
    past = torch.zeros(window, 8, device="cuda")
    outs = []
    for frame in frames:
        past = torch.cat([past[1:], frame.cuda(non_blocking=True)[None]])
        outs.append(net(torch.cat([past, past.flip(0)])))
    grid = outs[0]
    for k in range(3):
        grid = torch.cat([grid, outs[k]])
    return torch.cat(outs), grid
