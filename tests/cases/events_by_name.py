"""Events by their names: each runs the method of all callbacks, which read what the loop holds, and a board reports."""

import torch
import torch.distributed as dist
from windows import open_window


class Smooth:
    def on_step(self, loop):
        self.value = float(loop.loss)  # TL101

    def on_epoch(self, loop):
        print(self.value, float(loop.loss))


class Largest:
    def on_step(self, loop):
        self.value = loop.loss.item()  # TL101

    def on_epoch(self, loop):
        print(self.value)


class Board:
    def __init__(self, writer):
        self.writer = writer

    def put(self, step, **scalars):
        for name, value in scalars.items():
            dist.all_reduce(value)  # TL904
            self.writer.add_scalar(name, value, step)  # TL101


class Picture:
    def __init__(self, values):
        self.values = values

    def show(self, *args, **kwargs):
        return self.values.max().item()


class Loop:
    def __init__(self, net, opt, crit, callbacks):
        self.net, self.opt, self.crit, self.callbacks = net.cuda(), opt, crit, callbacks
        self.loss, self.window = None, open_window()

    def emit(self, event):
        for callback in self.callbacks:
            getattr(callback, event)(self)

    def fit(self, loader, epochs, board):
        for _ in range(epochs):
            for step, (x, y) in enumerate(loader):
                self.loss = self.crit(self.net(x.cuda()), y.cuda())
                self.opt.zero_grad()
                self.loss.backward()
                self.opt.step()
                self.emit("on_step")
                self.window.show(step, title="loss")
                board.put(step, loss=self.loss.detach())
            self.emit("on_epoch")


def main(net, opt, loader, board):
    Loop(net, opt, torch.nn.CrossEntropyLoss(), [Smooth(), Largest()]).fit(loader, 10, board)
