"""An accelerator gathers the loss of every step to show it."""

import torch
from accelerate import Accelerator
from torch import nn


def fit(net: nn.Module, opt, feed):
    accelerator = Accelerator()
    net, opt, feed = accelerator.prepare(net, opt, feed)
    shown = torch.zeros((), device=accelerator.device)
    for x, y in feed:
        out = nn.functional.mse_loss(net(x), y)
        accelerator.backward(out)
        opt.step()
        opt.zero_grad()
        shown += accelerator.gather(out.detach()).mean()  # TL904?
        accelerator.wait_for_everyone()  # TL904
    return shown
