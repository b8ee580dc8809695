"""What a step gives is kept after its loss was detached under the same key."""

import torch


def step(model, batch):
    loss = (model(batch["x"]) - batch["y"]).abs().mean()
    return {"loss": loss, "seen": loss.detach()}


def epoch(model, loader, opt):
    model.cuda()
    kept = []
    for batch in loader:
        out = step(model, {name: part.cuda() for name, part in batch.items()})
        opt.zero_grad()
        out["loss"].backward()
        opt.step()
        out["loss"] = out["loss"].detach()
        kept.append(out)
    return torch.stack([out["loss"] for out in kept]).mean().item()
