"""TL610: skipped steps that keep gradients."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "a norm that is not finite": """
import torch
def train(model, opt, loader, scaler):
    for x in loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if not torch.isfinite(norm):
            print("skip")
            continue  # TL610
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
""",
    "a handler": """
import torch
def train(model, opt, loader):
    for x in loader:
        try:
            loss = model(x).mean()
            loss.backward()
            opt.step()
            opt.zero_grad()
        except RuntimeError as e:
            if "out of memory" in str(e):
                torch.cuda.empty_cache()
                continue  # TL610
            raise
""",
}

SILENT = {
    "the skip comes before the backward": """
import torch
def train(model, opt, loader):
    for x in loader:
        loss = model(x).mean()
        if not torch.isfinite(loss):
            continue
        loss.backward()
        opt.step()
        opt.zero_grad()
""",
    "rounds that add up": """
import torch
def train(model, opt, loader, k):
    for i, x in enumerate(loader):
        loss = model(x).mean()
        loss.backward()
        last = (i + 1) % k == 0
        if not last:
            continue
        opt.step()
        opt.zero_grad()
""",
    "a continue of an inner loop": """
import torch
def train(model, opt, loader):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        for p in model.parameters():
            if p.grad is None:
                continue
            p.grad.clamp_(-1, 1)
        opt.step()
        opt.zero_grad()
""",
    "gradients dropped by hand": """
import torch
def train(model, opt, loader):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        if loss > 100:
            for p in model.parameters():
                p.grad = None
            continue
        opt.step()
        model.zero_grad(set_to_none=True)
""",
    "the caller clears first": """
import torch
class A:
    def one(self, x):
        loss = self.model(x).mean()
        loss.backward()
        if loss.isnan():
            return
        self.opt.step()
        self.opt.zero_grad()
    def all(self, loader):
        for x in loader:
            self.opt.zero_grad()
            self.one(x)
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL610")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL610")
