# refused: the attribute cls_to_become is never allowed
import torch


def measure(model, batches):
    layer = torch.nn.LazyLinear(3)
    layer.cls_to_become = type(model)
    return layer(torch.ones(2, 2))
