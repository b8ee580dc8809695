from ..utils.metrics import Meter


class Trainer:
    """The loop; what a step is, subclasses say."""

    def __init__(self, network, optimizer, device, callbacks=()):
        self.network = network.to(device)
        self.optimizer = optimizer
        self.device = device
        self.callbacks = callbacks
        self.meter = Meter()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            loss = self.run_epoch(loader)
            for callback in self.callbacks:
                callback.on_epoch(epoch, loss)

    def run_epoch(self, loader):
        for step, batch in enumerate(loader):
            loss = self.step(self.to_device(batch))
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.meter.update(loss.detach())
            for callback in self.callbacks:
                callback.on_step(step, loss)
        return loss

    def to_device(self, batch):
        return [part.to(self.device) for part in batch]  # TL503

    def step(self, batch):
        raise NotImplementedError
