from torch.nn import functional as F

from ..losses import build_loss
from .trainer import Trainer


class SegmentationTrainer(Trainer):
    """Its loop is in another file, and so is what it is made of."""

    def __init__(self, network, optimizer, device, callbacks=(), loss="focal"):
        super().__init__(network, optimizer, device, callbacks)
        self.extra = build_loss(loss)

    def step(self, batch):
        images, mask, labels = batch
        scores = self.network(images, mask)
        loss = F.cross_entropy(scores, labels) + self.extra(scores, labels)
        if not loss.isfinite():  # TL102
            raise FloatingPointError("the loss is not finite")
        return loss
