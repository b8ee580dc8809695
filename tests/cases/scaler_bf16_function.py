"""A scaler around bfloat16 in a plain function."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed):
    net = net.cuda()
    scaler = torch.amp.GradScaler("cuda")  # TL403
    for x, y in feed:
        opt.zero_grad()
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            out = nn.functional.cross_entropy(net(x), y)
        scaler.scale(out).backward()
        scaler.step(opt)
        scaler.update()
