"""Workers that stay, or a single pass."""

import torch
from torch.utils.data import DataLoader


def fit(net, opt, data, epochs):
    net = net.cuda()
    feed = DataLoader(data, batch_size=16, num_workers=8, pin_memory=True, persistent_workers=True)  # no TL507
    once = DataLoader(data, batch_size=16, num_workers=8, pin_memory=True)  # no TL507
    for _ in range(epochs):
        for x, y in feed:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True)).backward()
            opt.step()
    with torch.inference_mode():
        return [net(x.cuda(non_blocking=True)) for x, _ in once]
