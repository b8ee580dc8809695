"""Clipping that raises on bad norms, a scale read on every step, and a checkpoint of every step."""

import torch
from torch import nn


def fit(net: nn.Module, opt, feed, board):
    net.cuda()
    scaler = torch.amp.GradScaler("cuda")
    for k, (x, y) in enumerate(feed):
        with torch.autocast("cuda", dtype=torch.float16):
            out = nn.functional.mse_loss(net(x), y)
        scaler.scale(out).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)  # TL111
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
        board.add_scalar("scale", scaler.get_scale(), k)  # TL111
