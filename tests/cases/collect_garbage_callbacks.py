"""Collections in callbacks that a framework runs per step."""

import gc
from transformers import Trainer, TrainerCallback
import torch


class Mem(TrainerCallback):
    def on_step_end(self, args, state, control, **kw):
        gc.collect()  # TL209
        torch.cuda.empty_cache()  # TL606

    def on_epoch_end(self, args, state, control, **kw):
        gc.collect()


class My(Trainer):
    def training_step(self, model, inputs, num_items_in_batch=None):
        loss = super().training_step(model, inputs)
        gc.collect()  # TL209
        return loss
