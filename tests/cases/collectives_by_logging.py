"""A trainer's log reduces over all processes at once, where it is asked to and logs on the step."""

import lightning as L


class Fit(L.LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def training_step(self, batch, batch_idx):
        loss = self.net(**batch).loss
        self.log("loss", loss, sync_dist=True)  # TL904
        self.log("mean", loss, on_step=False, on_epoch=True, sync_dist=True)
        self.log("rank", loss, sync_dist=False)
        return loss

    def validation_step(self, batch, batch_idx):
        self.log("held", self.net(**batch).loss, sync_dist=True)
