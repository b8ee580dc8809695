"""Objects that are made around the tensors of a step, scalers and regions of other classes, canvases of a round."""

import torch
from torch import nn
from torch.distributions import Categorical
from torch.utils.data import DataLoader


class Choice:
    def __init__(self, logits):
        self.dist = Categorical(logits=logits)  # TL111

    def loss(self, actions):
        return -self.dist.log_prob(actions).mean()


class Scatter(nn.Module):
    def __init__(self, cells):
        super().__init__()
        self.cells = cells

    def forward(self, features, cells, owners, batches: int):
        canvases = []
        for b in range(batches):  # TL201
            canvas = torch.zeros(features.shape[1], self.cells, device=features.device)
            mine = owners == b
            canvas[:, cells[mine]] = features[mine].t()  # TL105
            canvases.append(canvas)
        return torch.stack(canvases)


class Wide:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")  # TL403

    def region(self):
        return torch.autocast("cuda", dtype=torch.bfloat16)


class Narrow:
    def __init__(self):
        self.scaler = torch.amp.GradScaler("cuda")

    def region(self):
        return torch.autocast("cuda", dtype=torch.float16)


class Collate:
    def __call__(self, samples):
        return torch.stack(samples).cuda()  # TL506


def train(policy, dataset, opt, precision: Wide):
    policy.cuda()
    for x in DataLoader(dataset, 16, num_workers=4, collate_fn=Collate()):
        with precision.region():
            loss = Choice(policy(x)).loss(x.long()[:, 0])
        opt.zero_grad()
        precision.scaler.scale(loss).backward()
        precision.scaler.step(opt)
        precision.scaler.update()


def watch(net, batches):
    host = torch.zeros(2, pin_memory=True)
    net.cuda()
    for x in batches:
        out = net(x.cuda(non_blocking=True))
        host.copy_(torch.stack([out.mean(), out.std()]), non_blocking=True)
        if host[0] > 10:  # TL505
            print("large", host)
