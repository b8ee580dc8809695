"""TL903: one process for all devices."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "for training": """
import torch
from torch import nn
def main(net, loader, opt):
    net = nn.DataParallel(net).cuda()  # TL903
    for x in loader:
        net(x).mean().backward()
        opt.step()
""",
    "a part of a module, by an alias": """
import torch.nn as nn
from torch.nn.parallel import DataParallel as DP
class M(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = DP(body)  # TL903
""",
    "behind a device count": """
import torch
if torch.cuda.device_count() > 1:
    model = torch.nn.DataParallel(model, device_ids=[0, 1])  # TL903
""",
    "the function": """
from torch.nn.parallel import data_parallel
class N:
    def forward(self, x):
        return data_parallel(self.net, x, range(2))  # TL903
""",
    "by an alias of the class": """
import torch
wrap = torch.nn.DataParallel
def f(net):
    return wrap(net)  # TL903
""",
    "a subclass": """
import torch
class Mine(torch.nn.DataParallel):
    def __getattr__(self, name):
        return getattr(self.module, name)
def f(net):
    return Mine(net)  # TL903
""",
    "behind options": """
import torch
def f(args, net):
    if args.distributed:
        return torch.nn.parallel.DistributedDataParallel(net)
    elif args.multi:
        return torch.nn.DataParallel(net)  # TL903
    return net
""",
}

SILENT = {
    "only so that the keys of a checkpoint fit": """
import torch
from torch import nn
from model import Net
def demo(path, x):
    net = nn.DataParallel(Net())
    net.load_state_dict(torch.load(path))
    net = net.module
    net.to("cuda")
    net.eval()
    return net(x)
""",
    "the module is what runs": """
import torch
from torch import nn
from model import Net, validate
net = nn.DataParallel(Net())
net.load_state_dict(torch.load("weights.pt"))
net.cuda()
net.eval()
validate(net.module)
""",
    "wrapped again, and left": """
import torch
from torch import nn
def load(net, state):
    if isinstance(net, nn.DataParallel):
        net = net.module
        net.load_state_dict(state)
        net = nn.DataParallel(net)
    return state["lr"]
""",
    "it is asked for": """
import torch
def unwrap(m):
    return m.module if isinstance(m, torch.nn.DataParallel) else m
""",
    "a namesake by alias": """
import torch
from torch.nn.parallel import DistributedDataParallel as DataParallel
def f(net):
    return DataParallel(net)
""",
    "in a test": """
import torch, pytest
def test_dp(net):
    torch.nn.DataParallel(net)
""",
    "a namesake": """
import torch
class DataParallel:
    def __init__(self, n): self.n = n
def f(n):
    return DataParallel(n)
""",
    "for inference": """
import torch
@torch.no_grad()
def score(net, xs):
    net = torch.nn.DataParallel(net).eval()
    return [net(x) for x in xs]
""",
    "a table of classes": """
import torch
cls = {"dp": torch.nn.DataParallel, "ddp": torch.nn.parallel.DistributedDataParallel}
def f(net, kind):
    return cls[kind](net)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL903")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL903")
