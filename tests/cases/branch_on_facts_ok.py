"""Branches on shapes, types, options and identities wait for nothing."""

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, width, bias=None):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None
        self.register_buffer("seen", None)

    def forward(self, x, mask=None, past=None):
        if self.bias is not None:
            x = x + self.bias
        if x.dtype == torch.float16 or x.device.type == "mps":
            x = x.float()
        if x.shape[1] > 1 and mask is not None and mask.dim() == 2:
            x = x * mask[..., None]
        if isinstance(past, torch.Tensor) and past.numel():
            x = torch.cat([past, x], dim=1)
        if torch.is_grad_enabled() and x.requires_grad and not x.is_contiguous():
            x = x.contiguous()
        if torch.jit.is_tracing() and x.max() > 10:
            raise ValueError("too large")
        return x if x.is_cuda else x.clone()
