"""Warnings on demand, for a stretch, and off."""

import torch


def main(net, opt, feed, options):
    if options.debug:
        torch.cuda.set_sync_debug_mode("warn")
    torch.cuda.set_sync_debug_mode("default")
    torch.cuda.set_sync_debug_mode(0)
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()


def stretch(fn, x):
    torch.cuda.set_sync_debug_mode("error")
    try:
        return fn(x)
    finally:
        torch.cuda.set_sync_debug_mode("default")
