"""A helper that waits, and the training loop in another file that makes it hot."""

from __future__ import annotations

HELPERS = "import torch\n\n\ndef log(loss):\n    print(loss.item())\n"
TRAIN = """\
import torch
from helpers import log


def train(net, loader, optimizer):
    for step, batch in enumerate(loader):
        loss = net(batch.cuda()).mean()
        loss.backward()
        optimizer.step()
        log(loss)
"""
