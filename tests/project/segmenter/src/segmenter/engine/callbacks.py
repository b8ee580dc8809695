class Callback:
    """What may be hooked into training."""

    def on_step(self, step, loss):
        pass

    def on_epoch(self, epoch, loss):
        pass


class History(Callback):
    def __init__(self):
        self.losses = []
        self.epochs = []

    def on_step(self, step, loss):
        self.losses.append(loss)  # TL602

    def on_epoch(self, epoch, loss):
        self.epochs.append(loss.item())  # once an epoch


class Printer(Callback):
    def on_step(self, step, loss):
        print(f"step {step}: {loss}")  # TL104


class SlowPrinter(Callback):
    def __init__(self, every):
        self.every = every

    def on_step(self, step, loss):
        if step % self.every == 0:
            print(f"step {step}: {loss}")
