"""A class that descends from one of another package: what validates its batches runs without autograd."""

import torch
from plans import TrainingPlan


class Plan(TrainingPlan):
    def __init__(self, module):
        super().__init__(module)
        self.outputs = []

    def validation_step(self, batch, batch_idx):
        loss = self.module(batch).mean()
        self.outputs.append({"loss": loss, "n": len(batch)})

    def on_validation_epoch_end(self):
        self.log("loss", torch.stack([out["loss"] for out in self.outputs]).mean())
        self.outputs.clear()
