"""A cache grows by concatenation behind a switch that only a call of some model asks for; the clock is a decorator's."""

import time
from functools import wraps

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.qkv = nn.Linear(dim, 3 * dim)
        self.keys = None

    def forward(self, x, use_cache=False):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        if use_cache:
            if self.keys is None:
                self.keys, self.values = k, v
            else:
                self.keys = torch.cat([self.keys, k], dim=1)  # TL203?
                self.values = torch.cat([self.values, v], dim=1)  # TL203?
            k, v = self.keys, self.values
        return nn.functional.scaled_dot_product_attention(q, k, v)


def timed(times):
    def wrap(fn):
        @wraps(fn)
        def inner(*args):
            start = time.perf_counter()
            out = fn(*args)
            times.append(time.perf_counter() - start)  # TL701
            return out

        return inner

    return wrap


TIMES: list = []


@timed(TIMES)
def step(model, ids):
    return model(ids, use_cache=True)


@torch.inference_mode()
def generate(model, ids, rounds):
    model.to("cuda")
    for _ in range(rounds):
        ids = step(model, ids)[:, -1:].argmax(-1)
    return ids
