"""Of a batch only what is a tensor is moved: the names and flags beside it are text and numbers of the host."""

import torch
from torch.utils.data import DataLoader


def moved(sample, place):
    return {k: v.to(place, non_blocking=True) if torch.is_tensor(v) else v for k, v in sample.items()}


def carried(sample):
    there = {}
    for key, value in sample.items():
        if isinstance(value, torch.Tensor):
            there[key] = value.cuda(non_blocking=True)
        else:
            there[key] = value
    return there


def judge(net, views, where):
    net.cuda().eval()
    found = {}
    with torch.inference_mode():
        for sample in DataLoader(views, num_workers=2, pin_memory=True):
            sample = moved(sample, "cuda")
            found[f"view_{sample['name'][0]}"] = net(sample["view"])
            print("seen", sample["name"][0])
        for sample in DataLoader(views, num_workers=2, pin_memory=True):
            sample = carried(sample)
            mark = net(sample["view"])
            if sample["flipped"]:
                mark = mark.flip(-1)
            found[f"{where}/{sample['name'][0]}"] = mark
    return found
