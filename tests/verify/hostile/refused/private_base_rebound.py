# refused: the private name __Base is bound inside a class
import torch


class _Own__Base:
    pass


class Own:
    def rebind(self):
        global __Base
        __Base = [torch.Tensor][0]


Own().rebind()


class Forged(_Own__Base):
    pass


def flagged(x):
    return x.as_subclass(Forged)
