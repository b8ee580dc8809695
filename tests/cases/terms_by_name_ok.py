"""Loss terms in a mapping that is walked by its keys: names are compared and sorted, no tensors."""

import torch
import torch.distributed as dist


def reduced(terms):
    names = sorted(terms)
    with torch.no_grad():
        values = torch.stack([terms[name] for name in names])
        dist.all_reduce(values)  # TL904
        return dict(zip(names, values / dist.get_world_size()))


def fit(model, criterion, feed, opt, report):
    for x, targets in feed:
        terms = criterion(model(x), targets)
        weights = criterion.weights
        total = sum(terms[k] * weights[k] for k in terms if k in weights)
        opt.zero_grad()
        total.backward()
        opt.step()
        for k in terms:
            if k in weights and k != "extra":
                terms[k] = terms[k].detach()
        report(reduced(terms))
