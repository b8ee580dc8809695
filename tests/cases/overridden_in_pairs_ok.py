"""A class has both of two methods in place of those of its base: what one of them gives is nothing to the other's twin."""

import torch
from torch.utils.data import DataLoader


class Model:
    def __init__(self, network, rows):
        self.network = network.cuda()
        self.loader = DataLoader(rows, num_workers=4, pin_memory=True)

    def epoch(self):
        self.network.eval()
        kept = []
        for x in self.loader:
            kept.append(self.predict(x))
        return kept

    def predict(self, x):
        return self.network(x.cuda(non_blocking=True)).detach()


class Pretrained(Model):
    def epoch(self):
        self.network.eval()
        with torch.no_grad():
            return torch.stack([self.predict(x)[0].mean() for x in self.loader])

    def predict(self, x):
        return self.network(x.cuda(non_blocking=True)), x


class Logged(Model):
    def epoch(self):
        print("predicting")
        return super().epoch()

    def predict(self, x):
        return self.network(x.cuda(non_blocking=True)).detach() * 2
