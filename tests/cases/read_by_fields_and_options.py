"""Tensors in the fields of a data class that may be None, in `**` arguments, and in what a name of a method is given."""

from dataclasses import dataclass, field

import torch


@dataclass
class Batch:
    ids: torch.Tensor
    lengths: torch.Tensor | None = None
    notes: list = field(default_factory=list)


class Watcher:
    def on_step(self, step, parts):
        pass


class Keeper(Watcher):
    def __init__(self):
        self.rows = []

    def on_step(self, step, parts):
        self.rows.append({name: float(part) for name, part in parts.items()})  # TL101


class Seldom(Watcher):
    def on_step(self, step, parts):
        if step % 100 == 0:
            print(step, {name: float(part) for name, part in parts.items()})


class Learner:
    def __init__(self, net, opt, board):
        self.net, self.opt, self.board = net.cuda(), opt, board
        self.watchers = [Keeper(), Seldom()]

    def tell(self, name, *args):
        for watcher in self.watchers:
            getattr(watcher, name)(*args)

    def note(self, step, **numbers):
        for name, number in numbers.items():
            self.board.add_scalar(name, number, step)  # TL101

    def fit(self, batches: list[Batch]):
        for step, batch in enumerate(batches):
            if torch.all(batch.lengths > 0):  # TL102
                loss = self.net(batch.ids.cuda()).mean()
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.note(step, loss=loss.detach(), rate=self.opt.param_groups[0]["lr"])
                self.tell("on_step", step, {"loss": loss.detach()})
