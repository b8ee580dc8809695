"""A framework trains with a method that an evaluation of the program calls as well, under `no_grad`."""

import torch
import transformers


class Tuner(transformers.Trainer):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.terms = []

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        outputs = model(**inputs)
        loss = outputs.logits.float().pow(2).mean()
        self.terms.append(loss)  # TL602
        return (loss, outputs) if return_outputs else loss

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        with torch.no_grad():
            return self.compute_loss(model, inputs), None, None
