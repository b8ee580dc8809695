"""A dataset appends a row for each sample, and text is tokenised in the step."""

import json

import torch
from torch.utils.data import DataLoader, Dataset


class Captions(Dataset):
    def __init__(self, path):
        self.items, self.sizes = [], []
        with open(path) as file:
            for row in json.load(file)["images"]:
                self.items.append((row["file"], row["caption"]))  # TL510
                self.sizes.append(torch.tensor(row["size"]))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        file, caption = self.items[i]
        return torch.load(file), self.sizes[i], caption


def fit(net, tokenizer, path, opt):
    net = net.cuda()
    feed = DataLoader(Captions(path), batch_size=32, num_workers=8, pin_memory=True, persistent_workers=True)
    for images, sizes, captions in feed:
        tokens = tokenizer(list(captions), padding=True, return_tensors="pt")  # TL513
        loss = net(images.cuda(non_blocking=True), tokens["input_ids"])
        opt.zero_grad()
        loss.backward()
        opt.step()
