"""Work that the device can do goes over the host."""

import numpy as np
import torch
from torch import nn


class Mixer(nn.Module):
    def forward(self, x):
        order = np.argsort(x.mean(-1).detach().cpu().numpy())  # TL103
        rank = torch.from_numpy(order).to(x.device)  # TL511
        return x.gather(1, rank[..., None].expand_as(x))


def smooth(x):
    flat = x.cpu()  # TL103
    return flat.clamp(0, 1).cumsum(0).cuda()  # TL511


def fit(net, opt, feed):
    net = net.cuda()
    for x, y in feed:
        out = net(x.cuda(non_blocking=True))
        opt.zero_grad()
        nn.functional.mse_loss(smooth(out), y.cuda(non_blocking=True)).backward()
        opt.step()
