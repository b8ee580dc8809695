"""A transformer trains in float32 on the device, and nothing lets it use the faster mode."""

import torch
from torch import nn


def main(feed):
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, batch_first=True), 6)
    net = net.to("cuda")  # TL401
    opt = torch.optim.AdamW(net.parameters(), lr=1e-4, fused=True)
    for x, y in feed:
        out = nn.functional.mse_loss(net(x.cuda(non_blocking=True)), y.cuda(non_blocking=True))
        opt.zero_grad()
        out.backward()
        opt.step()
