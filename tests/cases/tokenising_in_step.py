"""Texts are tokenised between two steps of the training."""

import torch
from transformers import AutoTokenizer


def fit(net, opt, feed, name):
    split = AutoTokenizer.from_pretrained(name)
    net = net.cuda()
    for texts in feed:
        batch = split(texts, padding=True, return_tensors="pt").to("cuda")  # TL513
        opt.zero_grad()
        net(**batch).loss.backward()
        opt.step()
