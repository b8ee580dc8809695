"""Rows of a mask that nothing names as one, but that is negated and combined as masks are."""

import torch


def spread(batch, device):
    y, mask, border = (part.to(device, non_blocking=True) for part in batch)
    scales = torch.ones(len(y), 1, device=device)
    for row in range(len(y)):  # TL201
        valid = mask[row]
        scales[row, 0] = y[row, valid].std()  # TL105?
    return scales, (mask & ~border).sum()


def train(net, opt, feed):
    net = net.cuda()
    for batch in feed:
        scales, count = spread(batch, "cuda")
        loss = net(scales).sum() / count
        opt.zero_grad()
        loss.backward()
        opt.step()
