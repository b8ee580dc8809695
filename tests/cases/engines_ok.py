"""What runs backward on a loss that it is given is no tensor, and is told when to reduce."""

from engines import make_engine
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, model, options):
        self.model = DistributedDataParallel(model.cuda())
        self.engine = make_engine(self.model, options)

    def fit(self, batches, accumulate):
        for i, x in enumerate(batches):
            loss = self.model(x.cuda()).mean() / accumulate
            self.engine.accelerator.sync_gradients = (i + 1) % accumulate == 0
            self.engine.backward(loss)
            if self.engine.rounds_until_step(accumulate) > 1:
                continue
            self.engine.step()
            if self.engine.is_sharded:
                self.engine.gather()
