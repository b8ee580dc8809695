"""Two optimizers share a scaler; one is clipped before it is unscaled."""

import torch
from torch import nn


def fit(a: nn.Module, b: nn.Module, opt_a, opt_b, feed):
    a, b = a.cuda(), b.cuda()
    scaler = torch.amp.GradScaler("cuda")
    for x, y in feed:
        with torch.autocast("cuda", dtype=torch.float16):
            out = nn.functional.mse_loss(b(a(x)), y)
        opt_a.zero_grad()
        opt_b.zero_grad()
        scaler.scale(out).backward()
        nn.utils.clip_grad_norm_(a.parameters(), 1.0)  # TL404
        scaler.unscale_(opt_a)
        scaler.unscale_(opt_b)
        nn.utils.clip_grad_norm_(b.parameters(), 1.0)
        scaler.step(opt_a)
        scaler.step(opt_b)
        scaler.update()
