"""A rollout whose policy nobody shows, losses reduced by name, weights moved on a flag, a context that stops autograd."""

import contextlib

import torch
import torch.distributed as dist
from torch import nn

cuda = torch.cuda.is_available()


@contextlib.contextmanager
def evaluating(model):
    model.eval()
    try:
        with torch.inference_mode():
            yield model
    finally:
        model.train()


def averaged(losses: dict, world: int):
    if world < 2:
        return losses
    values = torch.stack(list(losses.values()))
    dist.reduce(values, dst=0)
    return dict(zip(losses, values / world))


def mean_of(value: torch.Tensor):
    value = value.clone()
    dist.all_reduce(value)  # TL904
    value /= dist.get_world_size()
    return value


def collect(env, agent, steps, device="cuda"):
    obs = env.reset().to(device)
    returns = torch.zeros(env.count, device=device)
    finished = []
    for _ in range(steps):
        obs, reward, done, info = env.step(agent.choose(obs))
        returns += reward.to(device)
        over = done.to(device).nonzero()  # TL105
        finished.extend(returns[over].flatten().tolist())  # TL103
        returns[over] = 0.0  # TL109
    return finished


class Heads(nn.Module):
    def forward(self, predicted, wanted):
        ours, theirs = predicted.flatten(2).split(1, 1), wanted.flatten(2).split(1, dim=1)
        return sum(nn.functional.mse_loss(ours[k], theirs[k]) for k in range(predicted.size(1)))  # TL201


def train(model, batches, optimizer, world):
    model.cuda()
    for x, lengths in batches:
        weights = torch.rand(len(x), 1)
        weights = weights.cuda() if cuda else weights  # TL508
        terms = model(x.cuda(), weights)
        total = sum(terms.values())
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        shown = {name: value.item() for name, value in averaged(terms, world).items()}  # TL101
        total = mean_of(total)
    return shown


def evaluate(model, batches):
    seen, total = [], 0
    with evaluating(model):
        for x in batches:
            seen.append(model(x.cuda()))
            total += seen[-1].sum()
    return total, seen


def frames(model, batches):
    for x, lengths in batches:
        yield decoded(model(x.cuda()), lengths.cuda()[0])


def decoded(features, length: torch.Tensor):
    return [features[at] for at in range(length)]  # TL106
