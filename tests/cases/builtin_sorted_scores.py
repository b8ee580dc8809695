"""Scores of a beam are sorted by Python on every step."""

import torch


@torch.inference_mode()
def beam(net, ids, width, budget):
    net = net.cuda().eval()
    ids = ids.cuda()
    score = torch.zeros(width, device="cuda")
    for _ in range(budget):
        logp = net(ids)[:, -1].log_softmax(-1)
        value, token = (score[:, None] + logp).flatten().topk(width)
        order = sorted(range(width), key=lambda k: value[k], reverse=True)  # TL107
        score = value[order]  # TL109
        ids = torch.cat([ids[order], token[order, None] % logp.size(1)], dim=1)  # TL109?, TL203?
    return ids
