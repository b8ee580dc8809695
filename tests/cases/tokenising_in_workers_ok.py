"""Texts are tokenised by the collate function, and once before the training."""

import torch
from torch.utils.data import DataLoader
from transformers import AutoTokenizer


def fit(net, opt, texts, name, probe):
    split = AutoTokenizer.from_pretrained(name)
    net = net.cuda()
    asked = split(probe, return_tensors="pt").to("cuda")  # no TL513

    def pack(rows):
        return split(rows, padding=True, return_tensors="pt")  # no TL513

    for batch in DataLoader(texts, 8, num_workers=4, collate_fn=pack, pin_memory=True, persistent_workers=True):
        opt.zero_grad()
        (net(**batch.to("cuda", non_blocking=True)).loss + net(**asked).loss).backward()
        opt.step()
