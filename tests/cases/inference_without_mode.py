"""Inference under the older context."""

import torch


class Server:
    def __init__(self, net):
        self.net = net.cuda().eval()

    def answer(self, queue):
        with torch.no_grad():  # TL607
            return [self.net(x.cuda(non_blocking=True)).argmax(-1) for x in queue]
