"""Half precision, a scaler that is enabled by the type, and a type of the settings."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, kind):
    net = net.cuda()
    dtype = torch.bfloat16 if kind == "bf16" else torch.float16
    scaler = torch.amp.GradScaler("cuda", enabled=dtype is torch.float16)
    for x, y in feed:
        opt.zero_grad()
        with torch.autocast("cuda", dtype=dtype):
            out = nn.functional.cross_entropy(net(x), y)
        scaler.scale(out).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()


def plain(net: nn.Module, opt, feed):
    net = net.cuda()
    scaler = torch.amp.GradScaler("cuda")
    for x, y in feed:
        with torch.autocast("cuda"):
            out = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        scaler.scale(out).backward()
        scaler.step(opt)
        scaler.update()
