"""A generator draws rows of a table on the device by an array of the host, once for each round of who iterates it."""

import numpy as np
import torch


class Table:
    def __init__(self, rows, width):
        self.rows = torch.zeros(rows, width, device="cuda")
        self.full = rows

    def batches(self, count, size):
        order = self.rows.norm(dim=1).cpu()  # once for all
        for _ in range(count):
            chosen = np.random.choice(self.full, size=size)
            yield self.rows[chosen], order  # TL109


def train(net, opt, table: Table, count):
    net = net.cuda()
    for rows, _ in table.batches(count, 256):
        loss = net(rows).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


def bias(requests, words, device="cuda"):
    table = torch.zeros(len(requests), words, device=device)
    for row, request in enumerate(requests):
        for key, value in request.items():
            table[row, int(key)] = value  # TL109?
    return table


class Banned:
    def __init__(self, size):
        self.size = size

    def __call__(self, ids: torch.LongTensor, scores: torch.FloatTensor):
        seen = {}
        for word, after in zip(ids[0].tolist(), ids[0, 1:].tolist()):  # TL103?
            seen[word] = seen.get(word, []) + [after]
        scores[0, seen.get(self.size, [])] = -float("inf")  # TL109?
        return scores
