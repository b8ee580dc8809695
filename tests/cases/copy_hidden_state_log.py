"""A hook copies every activation to the host."""

import torch
from torch import nn


class Tap:
    def __init__(self, net: nn.Module):
        self.last = {}
        for name, part in net.named_modules():
            part.register_forward_hook(self.saver(name))

    def saver(self, name):
        def hook(part, args, out):
            self.last[name] = out.detach().to("cpu")  # TL103

        return hook
