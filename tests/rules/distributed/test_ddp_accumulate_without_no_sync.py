"""TL901: gradients reduced on every micro-step."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "plainly": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def train(net, opt, loader, k):
    net = DDP(net.cuda())
    for i, x in enumerate(loader):
        loss = net(x).mean() / k
        loss.backward()  # TL901
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
""",
    "in a method": """
import torch
class T:
    def __init__(self, net, opt, k):
        self.net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[0])
        self.opt, self.k = opt, k
    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            out = self.net(x)
            loss = torch.nn.functional.cross_entropy(out, y)
            (loss / self.k).backward()  # TL901
            if i % self.k == self.k - 1:
                self.opt.step()
                self.opt.zero_grad()
""",
    "a loop of micro-batches": """
import torch
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader, k):
    net = DistributedDataParallel(net)
    it = iter(loader)
    for step in range(100):
        opt.zero_grad()
        for micro in range(k):
            x = next(it)
            loss = net(x).mean() / k
            loss.backward()  # TL901
        opt.step()
""",
    "only the backward is held": """
import torch
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader, k):
    ddp = DistributedDataParallel(net)
    for i, x in enumerate(loader):
        loss = ddp(x).mean() / k
        with ddp.no_sync():
            loss.backward()  # TL901
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
""",
    "a helper runs the backward": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def micro(model, x, k):
    loss = model(x).mean() / k
    loss.backward()  # TL901
    return loss.detach()
def main(net, opt, loader, k):
    model = DDP(net.cuda())
    for i, x in enumerate(loader):
        micro(model, x, k)
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
""",
    "FSDP, a scaler and the last batch": """
import torch
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
def main(net, opt, loader, k, scaler):
    model = FSDP(net)
    for i, x in enumerate(loader):
        with torch.autocast("cuda"):
            loss = model(x).mean() / k
        scaler.scale(loss).backward()  # TL901
        if (i + 1) % k == 0 or i + 1 == len(loader):
            scaler.step(opt)
            scaler.update()
            opt.zero_grad()
""",
    "continue between steps": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def main(net, opt, loader, k):
    model = DDP(net.cuda())
    for i, x in enumerate(loader):
        loss = model(x).mean() / k
        loss.backward()  # TL901
        if (i + 1) % k != 0:
            continue
        opt.step()
        opt.zero_grad()
""",
    "wrapped by a helper": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def wrap(net):
    return DDP(net.cuda(), device_ids=[0])
def main(args):
    model = wrap(make(args))
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(3):
        for i, x in enumerate(args.loader):
            loss = model(x).mean() / args.accum
            loss.backward()  # TL901
            if (i + 1) % args.accum == 0:
                opt.step()
                opt.zero_grad()
""",
    "wrapped where it is distributed": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def main(net, opt, loader, args):
    model = net.cuda()
    if args.distributed:
        model = DDP(model)
    for i, x in enumerate(loader):
        loss = model(x).mean() / args.accum
        loss.backward()  # TL901
        if (i + 1) % args.accum == 0:
            opt.step()
            opt.zero_grad()
""",
    "a step method that counts": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
class Loop:
    def __init__(self, net, opt, accum):
        self.model = DDP(net)
        self.opt = opt
        self.accum = accum
        self.count = 0
    def step(self, x):
        loss = self.model(x).mean() / self.accum
        loss.backward()  # TL901
        self.count += 1
        if self.count % self.accum == 0:
            self.opt.step()
            self.opt.zero_grad()
    def run(self, loader):
        for x in loader:
            self.step(x)
""",
}

SILENT = {
    "nullcontext on the last": """
import torch, contextlib
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader, k):
    ddp = DistributedDataParallel(net)
    for i, x in enumerate(loader):
        last = (i + 1) % k == 0
        with contextlib.nullcontext() if last else ddp.no_sync():
            loss = ddp(x).mean() / k
            loss.backward()
        if last:
            opt.step()
            opt.zero_grad()
""",
    "a context by a name": """
import torch, contextlib
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader, k):
    ddp = DistributedDataParallel(net)
    for i, x in enumerate(loader):
        last = (i + 1) % k == 0
        ctx = contextlib.nullcontext if last else ddp.no_sync
        with ctx():
            loss = ddp(x).mean() / k
            loss.backward()
        if last:
            opt.step()
            opt.zero_grad()
""",
    "no accumulation": """
import torch
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader):
    ddp = DistributedDataParallel(net)
    for x in loader:
        loss = ddp(x).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "a flag is set by hand": """
import torch
from torch.nn.parallel import DistributedDataParallel
def train(net, opt, loader, k):
    ddp = DistributedDataParallel(net)
    for i, x in enumerate(loader):
        ddp.require_backward_grad_sync = (i + 1) % k == 0
        (ddp(x).mean() / k).backward()
        if (i + 1) % k == 0:
            opt.step()
            opt.zero_grad()
""",
    "two branches": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def main(net, opt, loader, args):
    model = DDP(net.cuda())
    for i, x in enumerate(loader):
        if (i + 1) % 4 != 0:
            with model.no_sync():
                model(x).mean().backward()
        else:
            model(x).mean().backward()
            opt.step()
            opt.zero_grad()
""",
    "a step that is skipped": """
import torch
from torch.nn.parallel import DistributedDataParallel as DDP
def main(net, opt, loader):
    model = DDP(net.cuda())
    for i, x in enumerate(loader):
        loss = model(x).mean()
        opt.zero_grad()
        loss.backward()
        if i % 100 == 0:
            print(i)
        if loss.isfinite():
            opt.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL901")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL901")
