"""The matrix products stand within a sequence of layers."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(width), nn.Sequential(nn.Linear(width, width), nn.ReLU()))

    def forward(self, x):
        return self.body(x)


def main(feed):
    net = Net(1024).to("cuda")  # TL401
    opt = torch.optim.SGD(net.parameters(), 0.1)
    for x, y in feed:
        opt.zero_grad()
        nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True)).backward()
        opt.step()
