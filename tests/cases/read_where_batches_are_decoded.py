"""Batches are decoded one after the other, in a function that loops over their symbols: a batch is a step."""

import torch


class Drafter:
    def __init__(self, model, longest, device="cuda"):
        self.model = model.to(device)
        self.longest = longest

    @torch.inference_mode()
    def propose(self, ids, lengths, hidden, count):
        fits = lengths.max().item() + count <= self.longest  # TL101
        drafts = []
        for _ in range(count if fits else 0):
            hidden = self.model(ids, hidden)
            ids = hidden.argmax(-1)
            drafts.append(ids)
        return drafts


def serve(drafter, target, queue, epochs):
    for ids, lengths in queue:
        yield drafter.propose(ids, lengths, target(ids), 4)


def rounds(drafter, loader, count):
    for _ in range(count):
        for ids, lengths, hidden in loader:
            drafter.propose(ids, lengths, hidden, 4)
        print("done", torch.cuda.memory_allocated(), torch.ones(1, device="cuda").sum().item())
