"""A loss is gathered on every step, with Accelerate, only to show it."""

from accelerate import Accelerator


def fit(model, loader, opt, bar):
    accelerator = Accelerator()
    model, opt, loader = accelerator.prepare(model, opt, loader)
    for batch in loader:
        loss = model(**batch).loss
        accelerator.backward(loss)
        opt.step()
        opt.zero_grad()
        mean = accelerator.gather(loss.repeat(8)).mean()  # TL904
        bar.set_postfix(loss=mean.item())  # TL101
