"""Warnings about waits are left on in a program, by word and by number."""

import torch

torch.cuda.set_sync_debug_mode("warn")  # TL707


def prepare():
    torch.cuda.set_sync_debug_mode(1)  # TL707


def main(net, opt, feed):
    prepare()
    net = net.cuda()
    for x, y in feed:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
