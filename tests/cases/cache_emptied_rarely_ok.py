"""The cache is emptied on a schedule, between stages, and after an error."""

import torch


def fit(net, opt, feed, every):
    net = net.cuda()
    for k, (x, y) in enumerate(feed):
        try:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
        except RuntimeError:
            torch.cuda.empty_cache()
            continue
        opt.step()
        if k % every == 0:
            torch.cuda.empty_cache()


def paint(encoder, net, words):
    with torch.inference_mode():
        cond = encoder(words)
        encoder.to("cpu")
        torch.cuda.empty_cache()
        return net(cond)
