"""Parts of a step, rounds that go on from the last one, buffers, windows, one device, and sums over the queries."""

import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.ops import nms
from accelerate import Accelerator


class Pooling(nn.Module):
    def __init__(self):
        super().__init__()
        self.over_queries = nn.Softmax(dim=-2)

    def forward(self, q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        pooled = torch.matmul(self.over_queries(scores), v)
        weights = scores.softmax(dim=-1)  # TL302
        return pooled + torch.matmul(weights, v)


class Windowed(nn.Module):
    def __init__(self, window=None):
        super().__init__()
        if window is not None:
            window = torch.from_numpy(window)
        self.register_buffer("window", window)

    def forward(self, frames, net):
        out = []
        for i in range(frames.shape[-1]):
            frame = net(frames[..., i])
            out.append(frame * self.window.to(frame))
        return torch.cat(out)


class Stream:
    def __init__(self, net):
        self.net = net.cuda()
        self.pending = torch.zeros(1, 0, device="cuda")

    def feed(self, wave):
        self.pending = torch.cat([self.pending, wave], dim=1)
        while self.pending.shape[1] >= 512:
            self.net(self.pending[:, :512])
            self.pending = self.pending[:, 256:]


def stream(net, waves):
    stream = Stream(net)
    for wave in waves:
        stream.feed(wave)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 1)
        self.returns = None

    def reward(self, state, mask):
        with torch.no_grad():
            score = self.trunk(state).sigmoid()
            if self.returns is None:
                self.returns = score.clone()
            self.returns = self.returns * mask + score
            return score / self.returns.std()


def keep(boxes, scores):
    kept = nms(boxes, scores, 0.5)
    return torch.cat([boxes[kept], scores[kept, None]], dim=1)


parser = argparse.ArgumentParser()
parser.add_argument("--shrink-at", type=int, action="append", default=[100, 1000])


class Trainer:
    def __init__(self, loader):
        self.opt = parser.parse_args()
        self.model = nn.Linear(8, 8).cuda()
        self.discriminator = Discriminator().cuda()
        self.compare = nn.L1Loss(reduction="none")
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.loader = loader
        self.global_step = 0

    def losses(self, outputs, targets):
        total = 0
        for scale in self.opt.scales:
            parts = []
            for frame in self.opt.frames[1:]:
                parts.append(self.compare(outputs[frame, scale], targets[scale]))
            total += torch.cat(parts, 1).mean()
        return total

    def shrink(self, low, high):
        print(f"shrunk to {low.tolist()} and {high.tolist()}")

    def run(self, states: torch.Tensor, masks: torch.Tensor, rewards: torch.Tensor):
        history = []
        for inputs, targets in self.loader:
            loss = self.losses(self.model(inputs), targets)
            history.append(loss)  # TL602
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            for step in range(self.opt.steps):
                rewards[step] = self.discriminator.reward(states[step], masks[step])
            self.global_step += 1
            if self.global_step in self.opt.shrink_at:
                self.shrink(states.amin(0), states.amax(0))


class Detector(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor):
        return [keep(boxes[i], scores[i]) for i in range(boxes.shape[0])]


def advantages(rewards: torch.Tensor):
    return (rewards - rewards.mean(-1, keepdim=True)) / (rewards.std(-1, keepdim=True) + 1e-9)


def generate(prompts, net):
    accelerator = Accelerator()
    loader = accelerator.prepare(DataLoader(prompts, batch_size=4, collate_fn=list))
    for batch in loader:
        net(batch)


def load(path, net):
    net = nn.DataParallel(net.cuda(), device_ids=[0])
    net.load_state_dict(torch.load(path))
    return net(torch.zeros(1, 8, device="cuda"))


@torch.no_grad()
def continued(net, ids, count):
    out = ids
    for _ in range(count):
        token = net(out)[:, -1].argmax(-1, keepdim=True)
        out = torch.cat((out, token), dim=-1)  # TL203
    out = out[:, ids.shape[-1] :]
    return out
