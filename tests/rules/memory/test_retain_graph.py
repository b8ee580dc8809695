"""TL604: graphs kept for a backward that never comes."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check

FIRES = {
    "in a loop": """
import torch
def train(net, opt, loader):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward(retain_graph=True)  # TL604
        opt.step()
""",
    "in a method": """
import torch
class T:
    def __init__(self, net, opt):
        self.net, self.opt = net.cuda(), opt
    def step(self, x, y):
        self.opt.zero_grad()
        out = self.net(x)
        loss = (out - y).pow(2).mean()
        loss.backward(retain_graph=True)  # TL604
        self.opt.step()
        return loss.item()
""",
    "the other loss sees a detached tensor": """
import torch
def gan(g, d, og, od, loader, bce):
    for real in loader:
        z = torch.randn(len(real), 8, device="cuda")
        fake = g(z)
        ld = bce(d(fake.detach()), 0) + bce(d(real), 1)
        od.zero_grad()
        ld.backward(retain_graph=True)  # TL604
        od.step()
        lg = bce(d(fake), 1)
        og.zero_grad()
        lg.backward()
        og.step()
""",
    "the last of two": """
import torch
def two(net, a, b, opt, loader):
    for x in loader:
        h = net(x)
        la, lb = a(h).mean(), b(h).mean()
        la.backward(retain_graph=True)
        lb.backward(retain_graph=True)  # TL604
        opt.step()
""",
    "by torch.autograd.backward": """
import torch
def rl(policy, opt, batches):
    policy.cuda()
    for obs, adv in batches:
        for _ in range(4):
            logp = policy(obs)
            loss = -(logp * adv).mean()
            opt.zero_grad()
            torch.autograd.backward(loss, retain_graph=True)  # TL604
            opt.step()
""",
    "a state that begins anew": """
import torch
def tbptt(cell, opt, loader, width):
    for x in loader:
        h = torch.zeros(len(x), width, device="cuda")
        h = cell(x, h)
        loss = h.mean()
        opt.zero_grad()
        loss.backward(retain_graph=True)  # TL604
        opt.step()
""",
    "through a scaler": """
import torch
def amp(net, opt, scaler, loader):
    for x in loader:
        with torch.autocast("cuda"):
            loss = net(x).mean()
        scaler.scale(loss).backward(retain_graph=True)  # TL604
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
""",
}

SILENT = {
    "two losses share an output": """
import torch
def two(net, a, b, opt, loader):
    for x in loader:
        h = net(x)
        la, lb = a(h).mean(), b(h).mean()
        la.backward(retain_graph=True)
        lb.backward()
        opt.step()
""",
    "a graph made before the loop": """
import torch
def ppo(net, opt, mem):
    vals = net(mem)
    for k in range(4):
        loss = (vals[k] - 1).pow(2).mean()
        loss.backward(retain_graph=True)
    opt.step()
""",
    "a state that is carried over": """
import torch
def tbptt(cell, opt, xs, h):
    for x in xs:
        h = cell(x, h)
        loss = h.mean()
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
""",
    "one row after the other": """
import torch
def cam(net, x, layer):
    out = net(x)
    for c in range(out.shape[1]):
        out[0, c].backward(retain_graph=True)
""",
    "gradients row by row": """
import torch
def jac(net, x):
    y = net(x)
    return torch.stack([torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range(len(y))])
""",
    "an option decides": """
import torch
def cond(net, opt, loader, keep):
    for x in loader:
        loss = net(x).mean()
        loss.backward(retain_graph=keep)
        opt.step()
""",
    "a gradient penalty": """
import torch
def gp(net, opt, loader):
    for x in loader:
        loss = net(x).mean()
        loss.backward(create_graph=True, retain_graph=True)
        pen = sum(p.grad.pow(2).sum() for p in net.parameters())
        pen.backward()
        opt.step()
""",
}


@pytest.mark.parametrize("source", FIRES.values(), ids=FIRES)
def test_fires(source: str) -> None:
    check(source, "TL604")


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_stays_silent(source: str) -> None:
    check(source, "TL604")
