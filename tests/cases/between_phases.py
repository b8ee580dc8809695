"""Memory is given back between episodes, prompts or layers, whose steps are many; and where it is not, on every step."""

import gc

import torch
from torch.utils.data import DataLoader


def describe(model, episodes, frames):
    model = model.cuda().eval()
    with torch.no_grad():
        for episode in episodes:
            for frame in frames[episode]:
                model(frame.cuda())
            torch.cuda.empty_cache()
            gc.collect()
            torch.cuda.synchronize()


def predict(model, rows):
    loader = DataLoader(rows, num_workers=4, pin_memory=True)
    model = model.cuda().eval()
    with torch.no_grad():
        for x in loader:
            for piece in x.cuda(non_blocking=True).split(8):
                model(piece)
            torch.cuda.empty_cache()  # TL606


def tidy(device):
    gc.collect()  # TL209
    if device.type == "cuda":
        torch.cuda.empty_cache()  # TL606
    if device.type == "xpu":
        torch.xpu.empty_cache()
    if device.type in ("mps", "xpu"):
        torch.mps.synchronize()


def train(model, opt, loader, device):
    model.to(device)
    for x in loader:
        loss = model(x.to(device)).mean()
        loss.backward()
        opt.step()
        opt.zero_grad()
        tidy(device)


@torch.inference_mode()
def load(parts, progress):
    for index, part in enumerate(parts):
        progress(index, len(parts))
        part.load()
        torch.cuda.empty_cache()
