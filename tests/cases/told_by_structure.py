"""What holds a thing tells of it: a list of the program's own, a table of clocks, a sampler, a metric that is read."""

import functools
import operator
import time

import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, RandomSampler


class Ends:
    def __init__(self, last):
        self.last = last

    def __call__(self, ids, scores):
        return bool(ids[0][-1] == self.last)  # TL102


class Full:
    def __call__(self, ids, scores):
        return ids.shape[-1] > 50


class Rules(list):
    def __call__(self, ids, scores):
        return any(rule(ids, scores) for rule in self)


@torch.no_grad()
def write(net, ids, rules):
    ids = ids.cuda()
    while True:
        scores = net(ids)[:, -1]
        ids = torch.cat([ids, scores.argmax(-1, keepdim=True)], -1)  # TL203
        if rules(ids, scores):
            return ids


def answer(net, ids):
    return write(net, ids, Rules([Ends(2), Full()]))


class Laps:
    def __init__(self):
        self.begun: dict[str, float] = {}
        self.spent = {}

    def begin(self, lap):
        self.begun[lap] = time.perf_counter()

    def end(self, lap):
        self.spent[lap] = time.perf_counter() - self.begun.pop(lap)  # TL701


class Metric:
    def __init__(self):
        self.total = 0.0

    def update(self, loss):
        self.total = self.total + loss  # TL601


def fit(net: nn.Module, opt, feed):
    net.cuda()
    laps, metric = Laps(), Metric()
    for x, y in feed:
        laps.begin("forward")
        out = net(x.cuda())
        laps.end("forward")
        loss = nn.functional.mse_loss(out, y.cuda())
        opt.zero_grad()
        loss.backward()
        opt.step()
        metric.update(loss)


class Memory:
    def __init__(self, size):
        self.seen = torch.zeros(size, 8)

    def place(self, device):
        self.seen = self.seen.to(device)

    def parts(self, size):
        for picked in BatchSampler(RandomSampler(range(len(self.seen))), size, drop_last=True):
            yield self.seen[picked]  # TL109


def learn(net, opt, memory: Memory):
    memory.place("cuda")
    for part in memory.parts(32):
        opt.zero_grad()
        net(part).mean().backward()
        opt.step()


def link(net, opt, pairs):
    first = pairs["first"].to("cuda")
    for picked in DataLoader(range(len(first)), 32, shuffle=True, num_workers=2):
        opt.zero_grad()
        net(first[picked]).mean().backward()  # TL109
        opt.step()


@torch.no_grad()
def score(net, feed):
    net.cuda()
    spent = total = 0.0
    cut = []
    for x, y, lengths in feed:
        begun = time.time()
        out = net(x.cuda())
        spent += time.time() - begun  # TL701
        total += nn.functional.mse_loss(out, y.cuda()).item()  # TL101
        lengths = lengths.cuda() * 4
        waves = out.cpu().numpy()  # TL103
        cut += [wave[: lengths[k]] for k, wave in enumerate(waves)]  # TL106
    return spent, total, cut


class Places(nn.Module):
    def forward(self, x):
        picked = x.argmax(-1).cpu()  # TL103
        return torch.arange(len(picked)), picked


class Picked(nn.Module):
    def __init__(self, places: Places):
        super().__init__()
        self.places = places
        self.score = nn.Linear(8, 8)

    def forward(self, x, kept):
        places = self.places(x)
        y = self.score(x)
        found = (y > 0).nonzero(as_tuple=True)  # TL105
        y[found] = 0.0  # TL109
        if len(kept.nonzero()):  # TL105?
            y = y + kept[y[kept]].sum()  # TL105?
        return y[places]  # TL109


def keeping(net, opt):
    kept = 0.0

    def step(x, y):
        nonlocal kept
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        kept = kept + loss  # TL601

    return step


def run(net, opt, feed):
    step = keeping(net.cuda(), opt)
    for x, y in feed:
        step(x.cuda(), y.cuda())


class Scaled:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss, opt, update=True):
        self.scaler.scale(loss).backward()
        if update:
            self.scaler.step(opt)
            self.scaler.update()
            return self.scaler.get_scale()  # TL111
        return None


@functools.singledispatch
def plain(value):
    return value


@plain.register
def _(value: torch.Tensor):
    return value.item()  # TL101


def gather(net, opt, feed, kept):
    net.cuda()
    scaled = Scaled()
    for k, (x, y) in enumerate(feed):
        terms = [nn.functional.mse_loss(net(x.cuda()), y.cuda()), net.weight.square().sum()]
        loss = functools.reduce(operator.add, terms)
        kept.append(plain(loss))
        print(float(functools.reduce(lambda a, b: a * b, terms, loss)))  # TL101
        scaled(loss, opt, update=(k + 1) % 4 == 0)
        if k % 2 == 0:
            kept.append(loss.detach().cpu())  # TL103
        if k % 50 == 0:
            kept.append(loss.item())


class Clocked:
    def __init__(self, label):
        self.label = label

    def __call__(self, work):
        def clocked(*given):
            begun = time.time()
            made = work(*given)
            print(self.label, time.time() - begun)  # TL701
            return made

        return clocked


class Served:
    def __init__(self, net):
        self.net = net.cuda().eval()
        self.spent = []

    @Clocked("forward")
    @torch.no_grad()
    def forward(self, x):
        return self.net(x.cuda())

    @torch.inference_mode()
    def once(self, x):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        self.net(x)
        torch.cuda.synchronize()
        self.spent.append(time.perf_counter() - begun)

    def all(self, parts):
        self.once(parts[0])
        self.spent.clear()
        for part in parts:
            self.once(part)
        return sum(self.spent) / len(self.spent)


def teach(net, opt, feed, labels, origin):
    net.cuda()
    words = 0
    for batch in feed:
        ids, kept = batch["ids"].cuda(), batch["kept"].cuda()
        rows = batch["rows"].tolist()
        each = nn.functional.cross_entropy(net(ids), labels[batch["at"]].cuda(), reduction="none")
        loss = (each * kept[:, 1:]).sum() / kept[:, 1:].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        words += kept.sum()
        origin.update(rows)
    return words.item()


class Steps:
    def __init__(self, net, opt):
        self.net, self.opt = net.cuda(), opt

    def after(self, loss):
        pass

    def step(self, x, y):
        loss = nn.functional.mse_loss(self.net(x.cuda()), y.cuda())
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.after(loss)

    def go(self, feed):
        for x, y in feed:
            self.step(x, y)


class Curve:
    curve: list = []

    def after(self, loss):
        super().after(loss)
        self.curve.append(loss.item())  # TL101


class Kept:
    kept: list = []

    def after(self, loss):
        super().after(loss)
        self.kept.append(loss)  # TL602


class Mixed(Curve, Kept, Steps):
    pass
