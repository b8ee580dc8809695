"""What a framework passes beside the batch, options of an optimizer, and what models give when asked for a key."""

import lightning.pytorch as pl
import torch


class Report(pl.Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        if (trainer.fit_loop.batch_idx + 1) % trainer.accumulate_grad_batches != 0:
            return
        print(f"batch {batch_idx:d} of epoch {trainer.current_epoch:d}")


class Plain(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, averaging=True):
        super().__init__(params, dict(lr=lr, averaging=averaging))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            group["step"] = group.get("step", torch.tensor(0.0)) + 1
            beta = 0.9 if group["averaging"] else 0.0
            live = [p for p in group["params"] if p.grad is not None]
            torch._foreach_add_(live, [p.grad for p in live], alpha=beta - 1)


class Head(torch.nn.Module):
    def forward(self, body, x):
        outputs = body(x)
        if "past" in outputs and not hasattr(self, "kept"):
            self.kept = torch.linalg.inv(outputs.weight)
        return outputs.logits
