"""The search is asked for by settings, for a model that they do not show."""

from accelerate import Accelerator, DistributedDataParallelKwargs
from lightning.pytorch.strategies import DDPStrategy


def helper():
    return Accelerator(kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)])  # TL902?


def strategy(asked):
    if asked:
        return DDPStrategy(find_unused_parameters=asked)
    return DDPStrategy(find_unused_parameters=True)  # TL902?
