"""A table that a module keeps on the host is cut to the length of each call and moved."""

import torch
from torch import nn


def distances(most, width):
    line = torch.arange(most)
    far = (line[None] - line[:, None]).clamp(-8, 8) + 8
    return nn.functional.one_hot(far, 17).float().matmul(torch.tensor([[1.0] * 4] * 17)).view(most, most, width)


class Mixer(nn.Module):
    def __init__(self, width, settings):
        super().__init__()
        self.pair = nn.Linear(width, width)
        self.table = distances(settings.most, settings.width // settings.heads)

    def forward(self, x):
        n = x.size(1)
        near = self.table[:n, :n].to(x.device)  # TL509
        return torch.einsum("bid,ijd->bjd", self.pair(x), near)


def fit(net, feed, opt):
    net.cuda()
    for x, y in feed:
        x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
