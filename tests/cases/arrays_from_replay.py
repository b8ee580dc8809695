"""Rows drawn from replay buffers become tensors as lists of arrays."""

from collections import deque
from collections import deque, namedtuple
import random
import numpy as np
import torch


class Replay:
    def __init__(self, cap):
        self.memory = deque(maxlen=cap)

    def push(self, s, a, r, s2, d):
        self.memory.append((np.asarray(s, dtype=np.float32), a, r, np.asarray(s2, dtype=np.float32), d))

    def sample(self, n, device):
        s, a, r, s2, d = zip(*random.sample(self.memory, n))
        s = torch.tensor(s, dtype=torch.float32, device=device)  # TL208
        a = torch.tensor(a, device=device)
        r = torch.tensor(r, dtype=torch.float32, device=device)
        s2 = torch.FloatTensor(s2).to(device)  # TL208
        return s, a, r, s2, torch.tensor(d, device=device)


Step = namedtuple("Step", "state action reward")


class Buf:
    def __init__(self, n):
        self.mem = deque(maxlen=n)

    def add(self, s, a, r):
        self.mem.append(Step(np.array(s, np.float32), a, r))

    def batch(self, k):
        steps = random.sample(self.mem, k)
        states = torch.tensor([s.state for s in steps])  # TL208
        rewards = torch.tensor([s.reward for s in steps])
        return states, rewards


class Memory:
    def __init__(self):
        self.obs = []

    def put(self, o):
        self.obs.append(np.array(o))

    def sample(self, idx):
        rows = [self.obs[i] for i in idx]
        return torch.FloatTensor(rows).cuda()  # TL208


def to_tensor(xs):
    return torch.FloatTensor(list(map(np.asarray, xs)))  # TL208
