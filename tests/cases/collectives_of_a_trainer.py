"""A trainer's accelerator gathers the values of a metric, and the host reads them, on every step."""

from transformers import Trainer


class Fit(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        loss = model(**inputs).loss
        shared = self.accelerator.gather_for_metrics(loss.detach())  # TL904?
        if shared.sum() > 0:  # TL102
            self.seen.append(self.accelerator.gather(loss.detach()).mean().item())  # TL101, TL904?
        return loss
