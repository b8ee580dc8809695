"""Copies to the host that are waited for before they are read."""

import torch


def stats(model, x):
    out = model(x.cuda())
    host = out.to("cpu", non_blocking=True)
    torch.cuda.synchronize()
    return host.sum()


def stats2(model, x):
    out = model(x.cuda())
    host = torch.empty(out.shape, pin_memory=True)
    ev = torch.cuda.Event()
    host.copy_(out, non_blocking=True)
    ev.record()
    ev.synchronize()
    return host.numpy()
