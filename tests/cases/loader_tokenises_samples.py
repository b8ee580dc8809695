"""A dataset tokenises in its getter, and no worker helps."""

import torch
from torch.utils.data import DataLoader, Dataset


class Lines(Dataset):
    def __init__(self, lines, split):
        self.lines, self.split = lines, split

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, k):
        return torch.tensor(self.split.encode(self.lines[k])[:128])


class Runner:
    def __init__(self, net, lines, split):
        self.net = net.to("cuda")
        self.feed = DataLoader(Lines(lines, split), batch_size=32)  # TL501, TL502

    def fit(self, opt):
        for ids in self.feed:
            ids = ids.to("cuda")
            opt.zero_grad()
            self.net(ids).mean().backward()
            opt.step()
