"""Parameters that only the gradient tells from other tensors, in a table by name."""

from torch import Tensor, nn


class Optimizers:
    def __init__(self, groups: dict[str, list[Tensor]], make, most):
        self.optimizers, self.groups, self.most = {}, {}, most
        for name, tensors in groups.items():
            self.optimizers[name] = make(tensors)
            self.groups[name] = tensors

    def step(self, scaler, names):
        for name in names:
            for p in self.groups[name]:  # TL204
                if p.grad is not None:
                    p.grad.data.clamp_(-self.most, self.most)
            scaler.step(self.optimizers[name])


def fit(net: nn.Module, optimizers: Optimizers, feed, scaler):
    for x, y in feed:
        scaler.scale(nn.functional.mse_loss(net(x), y)).backward()
        optimizers.step(scaler, ["net"])
        scaler.update()
