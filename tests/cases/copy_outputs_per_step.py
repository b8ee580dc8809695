"""Predictions are taken to the host batch by batch, in a generator of a comprehension."""

import numpy as np
import torch


class Scorer:
    def __init__(self, net):
        self.net = net.cuda().eval()

    @torch.inference_mode()
    def scores(self, feed):
        return np.concatenate([self.net(x.cuda()).softmax(-1).cpu().numpy() for x, _ in feed])  # TL103
