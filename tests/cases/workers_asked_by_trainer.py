"""A trainer of a framework asks once for the loader of its epochs."""

import lightning.pytorch as pl
from torch.utils.data import DataLoader


class Pairs(pl.LightningDataModule):
    def __init__(self, train, held):
        super().__init__()
        self.train, self.held = train, held

    def train_dataloader(self):
        return DataLoader(self.train, 64, shuffle=True, num_workers=8, pin_memory=True)  # TL507

    def val_dataloader(self):
        return DataLoader(self.held, 64, num_workers=2, pin_memory=True, persistent_workers=True)

    def predict_dataloader(self):
        return DataLoader(self.held, 64, num_workers=2, pin_memory=True)  # no TL507
