"""Whole models that a file holds, and tables of an object that a helper moves whenever it is asked."""

import torch
from torch import nn
from torch.nn import functional as F


def score(model, ids, target):
    return F.cross_entropy(model(ids), target)  # TL603


def evaluate(model, rows, device):
    return [score(model, ids.to(device), target.to(device)).item() for ids, target in rows]  # TL101


def main(rows):
    device = torch.device("cuda")
    model = torch.load("model.pt", weights_only=False)
    model.eval()
    model.to(device)
    print(evaluate(model, rows, device))


def loaded_and_read(rows):
    state = torch.load("state.pt", map_location="cpu")
    for name, value in state.items():
        print(name, value.mean().item())


class Inverter:
    history: list = []

    def __init__(self, generator: nn.Module, device="cuda"):
        self.generator = generator.eval().to(device)

    def invert(self, goal, steps):
        code = torch.zeros(1, 512, device="cuda", requires_grad=True)
        opt = torch.optim.Adam([code])
        for _ in range(steps):
            loss = (self.generator(code) - goal).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            self.history.append(loss)  # TL602


Inverter(torch.load("generator.pt")).invert(torch.load("goal.pt"), 100)


def extract(table, t, shape):
    return table.to(t.device).gather(-1, t).view(-1, *(1,) * (len(shape) - 1))  # TL509


class Diffusion(nn.Module):
    def __init__(self, net, steps=1000):
        super().__init__()
        self.net = net
        self.alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, steps), 0)

    def forward(self, x, t):
        a = extract(self.alphas, t, x.shape)
        noise = torch.randn_like(x)
        return F.mse_loss(self.net(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)


windows = {}


def spectrum(wave, size):
    if size not in windows:
        windows[size] = torch.hann_window(size).to(wave.device)
    return torch.stft(wave, size, window=windows[size], return_complex=True).abs()


def train(net, vocoder, loader, opt):
    net.cuda()
    for x, wave in loader:
        loss = net(x.cuda(), torch.randint(0, 1000, (len(x),), device="cuda"))
        loss = loss + (spectrum(vocoder(x.cuda()), 512) - spectrum(wave.cuda(), 512)).abs().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
