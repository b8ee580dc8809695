"""Every score of every batch is written as text."""

import torch


@torch.no_grad()
def score(model, feed, path):
    model = model.to("cuda").eval()
    with open(path, "w") as out:
        for names, x in feed:
            s = model(x.to("cuda")).sigmoid().squeeze(1)
            for n, v in zip(names, s):
                out.write(f"{n}\t{v:.4f}\n")  # TL104
