"""The precision stands in a name of the module, and the region may be entered or not."""

from contextlib import nullcontext

import torch

PRECISION = "bfloat16"
KINDS = {"float16": torch.float16, "bfloat16": torch.bfloat16}
WHERE = "cuda"
region = nullcontext() if WHERE == "cpu" else torch.autocast("cuda", dtype=KINDS[PRECISION])


def epoch(net, opt, scaler, feed):
    for x, y in feed:
        with region:
            loss = torch.nn.functional.mse_loss(net(x.cuda()), y.cuda())
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()


def main(net, opt, feed):
    scaler = torch.amp.GradScaler("cuda", enabled=PRECISION in ("float16", "bfloat16"))  # TL403
    epoch(net.cuda(), opt, scaler, feed)
