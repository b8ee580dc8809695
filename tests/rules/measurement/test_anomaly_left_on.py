"""TL704: anomaly detection left on."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "at the top": """
import torch
torch.autograd.set_detect_anomaly(True)  # TL704
""",
    "in main": """
import torch
def main(args):
    torch.autograd.set_detect_anomaly(True)  # TL704
    train(args)
""",
    "as a context": """
from torch import autograd
def fit(net, opt, loader):
    with autograd.detect_anomaly():  # TL704
        for x in loader:
            net(x).mean().backward()
            opt.step()
""",
    "by an alias": """
from torch.autograd import set_detect_anomaly as nan_watch
nan_watch(True, check_nan=False)  # TL704
""",
    "in a constructor, by keyword": """
import torch
class Trainer:
    def __init__(self):
        torch.autograd.set_detect_anomaly(mode=True)  # TL704
""",
    "the setter as a context": """
import torch
def step(loss):
    with torch.autograd.set_detect_anomaly(True):  # TL704
        loss.backward()
""",
    "behind the main guard": """
import torch
if __name__ == "__main__":
    torch.autograd.set_detect_anomaly(True)  # TL704
""",
    "a trainer's option": """
import pytorch_lightning as pl
trainer = pl.Trainer(detect_anomaly=True, max_epochs=3)  # TL704
""",
    "a constant that is on": """
import torch
ANOMALY = True
torch.autograd.set_detect_anomaly(ANOMALY)  # TL704
""",
    "only the device is asked for": """
import torch
if torch.cuda.is_available():
    torch.autograd.set_detect_anomaly(True)  # TL704
""",
}

SILENT = {
    "an option decides": """
import torch
def main(args):
    if args.debug:
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(args.anomaly)
""",
    "a configuration decides": """
import torch
def step(loss, cfg):
    with torch.autograd.set_detect_anomaly(cfg.check):
        loss.backward()
""",
    "in a recovery": """
import torch
try:
    pass
except RuntimeError:
    torch.autograd.set_detect_anomaly(True)
""",
    "a constant that is off": """
import torch
DEBUG = False
torch.autograd.set_detect_anomaly(DEBUG)
""",
    "an environment variable decides": """
import torch, os
if os.environ.get("NAN_HUNT"):
    torch.autograd.set_detect_anomaly(True)
torch.autograd.set_detect_anomaly(False)
""",
    "in a test": """
import torch, pytest
def test_x():
    torch.autograd.set_detect_anomaly(True)
""",
    "turned off again": '''
import torch
def hunt(net, x):
    """Find the operation that gives NaN."""
    torch.autograd.set_detect_anomaly(True)
    try:
        net(x).sum().backward()
    finally:
        torch.autograd.set_detect_anomaly(False)
''',
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL704")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL704")
