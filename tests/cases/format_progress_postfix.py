"""A progress bar is given the loss itself on every step."""

import torch
from torch import nn
from tqdm import tqdm


def fit(net: nn.Module, opt, feed):
    net.cuda()
    bar = tqdm(feed, leave=False)
    for x, y in bar:
        out = nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        opt.zero_grad(set_to_none=True)
        out.backward()
        opt.step()
        bar.set_postfix_str(f"loss={out:.3f}")  # TL104
