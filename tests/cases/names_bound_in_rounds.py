"""What a round binds by a pattern or a `with` changes; a keyword, and a member of that name, are not what it binds."""

import torch
from torch import nn


def project(net: nn.Module, opt, feed, basis, mixing):
    net.cuda()
    basis, mixing = basis.cuda(), mixing.cuda()
    for dim, (x, y) in enumerate(feed):
        frame = basis @ mixing.softmax(dim=1)  # TL202?
        out = net(x.cuda(non_blocking=True) @ frame)
        opt.zero_grad()
        nn.functional.mse_loss(out, y.cuda(non_blocking=True)).backward()
        opt.step()


@torch.no_grad()
def patterns(net: nn.Module, commands, weight: torch.Tensor):
    net.cuda()
    weight = weight.cuda()
    for command in commands:
        match command:
            case {"rows": rows, **others}:
                yield net(torch.matmul(rows, weight)), others
            case [kernel, *_]:
                yield net(torch.matmul(kernel, kernel))


@torch.no_grad()
def opened(net: nn.Module, places, open_table):
    net.cuda()
    for place in places:
        with open_table(place) as (table, [scale]):
            yield net(torch.matmul(table.cuda(), scale.cuda()))


@torch.no_grad()
def decode(net: nn.Module, prompt: torch.Tensor, length: int):
    net.cuda()
    tokens = torch.zeros(1, length, dtype=torch.long, device="cuda")
    tokens[:, : prompt.shape[1]] = prompt
    for at in range(prompt.shape[1], length):
        tokens[:, at] = net(tokens[:, :at])[:, -1].argmax(-1)
    return tokens
