"""Tensors that are joined with what they are: for each axis, or in the first round alone."""

import torch
from torch import nn


def widened(old, new):
    grown = old.clone()
    for axis in range(len(new.shape)):
        missing = new.size(axis) - old.size(axis)
        if missing:
            grown = torch.cat([grown, new.narrow(axis, -missing, missing)], dim=axis)
    return grown


class Levels(nn.Module):
    def __init__(self, width, levels):
        super().__init__()
        self.head = nn.Linear(width, width)
        self.levels = levels

    def forward(self, x):
        for i in range(self.levels):
            x = self.head(x)
            if i == 0:
                out = x if i == 0 else torch.cat((out, x), dim=-1)
        return out


class Pipeline:
    def __init__(self, encoders, tokenizers):
        self.encoders = encoders
        self.tokenizers = tokenizers

    def encode(self, prompt):
        found = []
        for tokenize, encode in zip(self.tokenizers, self.encoders):
            found.append(encode(tokenize(prompt).cuda()))
        joined = found[0]
        for i in range(1, len(found)):
            joined = torch.cat([joined, found[i]], dim=2)
        return joined


def sample(one, other, words, prompts):
    pipeline = Pipeline([one, other], [words, words])
    with torch.inference_mode():
        return [pipeline.encode(prompt) for prompt in prompts]
