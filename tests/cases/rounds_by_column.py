"""Rounds that write columns of their own are independent; a recurrence is not."""

import torch


def boxes_of(net, x):
    net.cuda()
    for img in x:
        p = net(img.cuda())
        out = torch.zeros(p.shape[0], 2, device=p.device)
        for i in range(p.shape[0]):  # TL201
            out[i, 0] = p[i, :, 0].max() - p[i, :, 2].min()
            out[i, 1] = p[i, :, 1].max() - p[i, :, 3].min()
        yield out


def scan(net, xs):
    for x in xs:
        h = net(x.cuda())
        for i in range(h.shape[1] - 1):
            h[:, i + 1] = h[:, i + 1] * 0.5 + h[:, i]
        yield h
