"""Masks and sums are made on the host by a helper, or moved by one, on every step."""

import torch
from torch import nn


def square_mask(n, past=0):
    mask = torch.full((n, n), float("-inf"))
    cond = torch.arange(mask.size(-1))
    mask.masked_fill_(cond < (cond + 1).view(mask.size(-1), 1), 0)
    if past > 0:
        mask = torch.cat([torch.zeros(n, past), mask], dim=-1)
    return mask[None, None].expand(1, 1, n, n + past)


def placed(x, where):
    return x.to(where) if torch.is_tensor(x) else x


class Decoder(nn.Module):
    def __init__(self, vocab, width, layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.layers = nn.ModuleList(layers)
        self.kept = square_mask(512)

    def forward(self, ids):
        x = self.embed(ids)
        mask = square_mask(ids.shape[1]).to(x.device)  # TL508
        for layer in self.layers:
            x = layer(x, mask)
        return x


def fit(model, feed, opt, device):
    model = model.to(device)
    for ids in feed:
        total = placed(torch.zeros(()), device)  # TL508
        scale = placed(torch.tensor(0.5), device)  # TL207?
        for part in placed(ids, device).split(4):
            loss = model(part).square().mean() * scale
            loss.backward()
            total += loss.detach()
        opt.step()
        opt.zero_grad(set_to_none=True)
    return total


def grid(batch, h, w):
    coords = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
    return torch.stack(coords[::-1], dim=0).float()[None].repeat(batch, 1, 1, 1)


class Flow(nn.Module):
    def forward(self, a, b):
        here = grid(a.shape[0], a.shape[2], a.shape[3]).to(a.device)  # TL508
        return (a - b).mean(1, keepdim=True) + here
