"""What looks like a read and is none: counts of Python, lists of names, questions to objects, classes as defaults."""

import torch
from steppers import Base
from torch import nn


class Stepper(Base):
    """Counts the steps of a training; where it goes on from a file, from what that says."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self._training_step = 1

    @property
    def training_step(self):
        return self._training_step

    def load(self, held):
        self._training_step = held["training_step"]

    def step(self):
        self.optimizer.step()
        self._training_step += 1


def train(net: nn.Module, loader, every, held):
    net = net.cuda()
    stepper = Stepper(torch.optim.AdamW(net.parameters(), fused=True))
    stepper.load(held)
    for batch in loader:
        step = stepper.training_step
        loss = net(batch.cuda(non_blocking=True)).mean()
        loss.backward()
        stepper.step()
        if step % every == 0:
            print("%2d" % step, loss.item())
        print(loss)  # TL104


class Reporter:
    def __init__(self, net: nn.Module, log):
        self.net, self.log, self.last_norm = net.cuda(), log, None

    def training_step(self, batch, opt, clip):
        loss = self.net(batch).mean()
        loss.backward()
        if clip:
            self.last_norm = nn.utils.clip_grad_norm_(self.net.parameters(), clip).detach()
        opt.step()
        if self.last_norm is not None:
            read = torch.stack([loss.detach(), self.last_norm]).tolist()  # TL103
            self.last_norm = read[1]
        said = {"clip": clip}
        if self.last_norm is not None:
            said["norm"] = self.last_norm
        print(said)


class Lookup(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Linear(width, width)

    def forward(self, state, names: list[str]):
        if state.device != self.table.weight.device:
            state = state.to(self.table.weight.device)
        found = state.order()
        found = found[1] if names == found[0] else found[1].flip(0)
        rows = self.table(state.pos[found])
        return rows * state.charge if state.has_extras("charge") else rows


def convert(source: nn.Module, layer: nn.Module | None = nn.Linear):
    parts, width = list(source.children()), 1
    while parts:
        made = layer(width, parts.pop().out_features)
        width = int(made.weight.shape[0] * made.weight.abs().max())
    return width


class Kept(nn.Module):
    """What the left of an `and` asks is known to its right alone."""

    def __init__(self, width):
        super().__init__()
        self.table = nn.Linear(width, width)

    def forward(self, state, seen: torch.Tensor, fixed=False):
        if state.numbers is None and not fixed:
            raise ValueError("numbers must be given")
        if state.numbers is not None and not torch.equal(state.numbers, seen):  # TL111
            seen = state.numbers
        return self.table(state.pos) * seen


class Built(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.table = nn.Linear(width, width)
        self.scale = None

    def build(self, x):
        self.scale = x.abs().amax()

    def forward(self, x):
        if self.scale is not None:
            return self.table(x)
        self.build(x)
        print(self.scale.item())  # TL101
        return self.table(x)
