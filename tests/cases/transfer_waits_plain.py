"""A pinned batch is moved by the shortest method."""

import torch
from torch.utils.data import DataLoader


def fit(net, opt, data):
    net = net.cuda()
    feed = DataLoader(data, batch_size=16, num_workers=4, pin_memory=True)
    for x, y in feed:
        x = x.cuda()  # TL503
        y = y.cuda()  # TL503
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
