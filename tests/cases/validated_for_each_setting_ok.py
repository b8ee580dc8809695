"""What a validation gave is printed once for each of a few settings."""

import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
inputs = torch.randn(64, 8, device="cuda")
FACTORS = [float(f) for f in open("factors").read().split()]


@torch.no_grad()
def validate():
    total = 0
    for i in range(len(inputs) // 8):
        total += model(inputs[i * 8 : (i + 1) * 8]).mean()
    return total / 8


def scale(factor):
    with torch.no_grad():
        model.weight.mul_(factor)


for factor in FACTORS:
    scale(factor)
    loss = validate()
    print(f"{factor}: {loss:.5f}")
