"""A method that bears a name of set-up, but is given each batch of a loop."""

import torch
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, model, optimizer, device):
        self.model, self.optimizer, self.device = model.to(device), optimizer, device

    def prepare_data(self, batch):
        return batch.to(self.device, non_blocking=True)  # TL504

    def train(self, loader):
        for batch in loader:
            batch = self.prepare_data(batch)
            self.optimizer.zero_grad()
            self.model(batch).square().mean().backward()
            self.optimizer.step()


def main(dataset, model):
    loader = DataLoader(dataset, batch_size=8, shuffle=True, num_workers=4)  # TL502
    Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), torch.device("cuda")).train(loader)
