"""Functions that decorators put into a dictionary, from which a training loop takes the one that is named."""

import torch
import torch.nn.functional as F

LOSSES = {}


def register(name):
    def put(fn):
        LOSSES[name] = fn
        return fn

    return put


def build(name):
    return LOSSES[name]


@register("weighted")
def weighted(logits, target):
    balance = torch.tensor([0.25, 0.75], device=logits.device)  # TL207
    return F.cross_entropy(logits, target, balance)


@register("hardest")
def hardest(logits, target):
    each = F.cross_entropy(logits, target, reduction="none")
    return each.topk(int((each > 1).sum())).values.mean()  # TL101


class Bank:
    def __init__(self):
        self.entries = {}

    def add(self, name):
        def put(fn):
            self.entries[name] = fn
            return fn

        return put

    def find(self, name):
        return self.entries[name]


BANK = Bank()


@BANK.add("least")
def least(logits, target):
    return logits.mean().item()  # TL101


@BANK.add("most")
def most(logits, target):
    return logits.amax().item()  # TL101


def train(cfg, net, loader):
    net = net.to("cuda")
    crit, watch = build(cfg["loss"]), BANK.find(cfg["watch"])
    opt = torch.optim.SGD(net.parameters(), **cfg["opt"])
    for x, y in loader:
        x, y = x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)
        logits = net(x)
        loss = crit(logits, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(watch(logits, y))
