"""Who evaluates: a teacher, an attack, a module without parameters, what is read as an array, a pretrained model."""

import torch
from torch import nn
from transformers import AutoModelForCausalLM


def distil(student: nn.Module, teacher, feed, opt, device):
    teacher.to(device).eval()
    for x in feed:
        x = x.to(device)
        wanted = teacher(x)  # TL603
        loss = nn.functional.mse_loss(student(x), wanted.detach())
        opt.zero_grad()
        loss.backward()
        opt.step()


def attack(net, x, y, rounds):
    near = x.clone().detach()
    for _ in range(rounds):
        near.requires_grad_(True)
        loss = nn.functional.cross_entropy(net(near), y)
        (slope,) = torch.autograd.grad(loss, near)
        near = near.detach() + 0.01 * slope.sign()
    return near.detach()


def robust(net: nn.Module, feed, device):
    net.to(device).eval()
    hits = torch.zeros((), device=device)
    for x, y in feed:
        near = attack(net, x.to(device), y.to(device), 10)
        with torch.no_grad():
            hits += (net(near).argmax(1) == y.to(device)).sum()
    return hits


class Matcher(nn.Module):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, tokens):
        return (tokens[:, :, None] == tokens[:, None, :]).int().argmax(dim=-1)[:, : self.count]


class Proposer:
    def __init__(self, count):
        self.kernel = Matcher(count).to("cuda")
        self.kernel.eval()

    def propose(self, tokens):
        return self.kernel(tokens)


class Embedder:
    def __init__(self, net: nn.Module):
        self.net = net.cuda().eval()

    def embed(self, wave):
        return self.net(wave.cuda()).cpu().numpy()  # it would raise, were there a graph


def perplexity(ids, width, device="cuda"):
    net = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
    total = 0.0
    for at in range(0, ids.size(1), width):
        piece = ids[:, at : at + width].to(device)
        total += net(piece, labels=piece).loss.item()  # TL603, TL101
    return total


class Goodness(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def guess(self, x):
        scores = []
        for label in range(10):
            h = x + label
            for layer in self.layers:
                h = layer(h)  # TL603
            scores.append(h.pow(2).mean(1, keepdim=True))
        return torch.cat(scores, 1).argmax(1)


def errors(layers, x, y):
    net = Goodness(layers).to("cuda")
    return (net.guess(x) != y).float().mean()
