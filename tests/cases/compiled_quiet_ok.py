"""Printing outside of what is compiled, when it is not, or where the compiler is kept out."""

import torch
from torch import nn


@torch.compiler.disable
def note(x):
    print("mean", x.shape)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        print("made", width)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            print("eager", x.shape)
        note(x)
        return self.inner(x)

    def extra_repr(self):
        return "quiet"


def fit(net, feed):
    net = torch.compile(net.cuda())
    for x in feed:
        print(x.shape)
        net(x).mean().backward()
