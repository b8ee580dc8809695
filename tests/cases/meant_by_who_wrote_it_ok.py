"""Pinned to be copied beside work, gathered by a backward, kept for a second one, searched without autograd, metered."""

import time

import pytest
import torch
import torch.distributed as dist
from torch import nn


def overlapped(net: nn.Module, feed, side):
    net = net.cuda()
    for x in feed:
        spare = torch.full((1024,), 3.0).pin_memory()
        plain = torch.full((1024,), 3.0).cuda()  # TL508
        with torch.cuda.stream(side):
            held = spare.cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(side)
        net(x.cuda(non_blocking=True) + held + plain)


class Scatter(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, request):
        ctx.request = request
        return x.chunk(dist.get_world_size())[dist.get_rank()]

    @staticmethod
    def backward(ctx, grad):
        whole = grad.new_empty(grad.numel() * dist.get_world_size())
        ctx.request.waits = dist.all_gather_into_tensor(whole, grad.contiguous(), async_op=True)
        ctx.request.holds = whole
        return None, None


class Belief(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encode = nn.Linear(width, 2 * width)

    def forward(self, x):
        self.mean, self.spread = self.encode(x).chunk(2, dim=-1)
        return self.mean + self.spread * torch.randn_like(self.spread)

    def divergence(self):
        return (self.mean.square() + self.spread.exp() - self.spread).mean()


class Learner:
    def __init__(self, belief, critic, opts):
        self.belief, self.critic, self.opts = belief, critic, opts

    def update(self, x, y):
        task = self.belief(x)
        guess = self.critic(task)
        spread = self.belief.divergence()
        spread.backward(retain_graph=True)
        nn.functional.mse_loss(guess, y).backward()
        for opt in self.opts:
            opt.step()
            opt.zero_grad()


class Search:
    def __init__(self):
        self.found = []

    def advance(self, scores):
        best = scores.amax(dim=-1)
        self.found.append(best)


class Translator:
    def __init__(self, net: nn.Module):
        self.net = net.cuda()

    def translate(self, tokens, longest):
        search = Search()
        with torch.no_grad():
            for _ in range(longest):
                scores = self.net(tokens)
                search.advance(scores)
                tokens = scores.argmax(dim=-1)
        return search.found


def test_search():
    search, head = Search(), nn.Linear(2, 3)
    for _ in range(3):
        search.advance(head(torch.rand(2)))
    assert search.found[0].shape == pytest.approx(())


class Service:
    def __init__(self, net: nn.Module, latency):
        self.net, self.latency = net.cuda(), latency

    def answer(self, x):
        begun = time.perf_counter()
        y = self.net(x).cpu()
        self.latency.add((time.perf_counter() - begun) * 1000)
        return y


def serve(service: Service, queue):
    while True:
        queue.put(service.answer(queue.get().cuda()))
