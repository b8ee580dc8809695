# refused: torch.load is not on the list
import torch


class Source:
    def read(self, n=-1):
        return b""

    def readline(self):
        return b""


def flagged(x):
    torch.load(Source(), weights_only=False)
    return x
