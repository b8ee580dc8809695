"""A formatting helper that every caller calls rarely."""

import torch


def show(step, **scalars):
    print(step, {k: f"{float(v):.3f}" for k, v in scalars.items()})


def fit(net, feed, opt):
    net.cuda()
    for step, x in enumerate(feed):
        loss = net(x.cuda()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 200 == 199:
            show(step, loss=loss)
    show(-1, loss=loss)
