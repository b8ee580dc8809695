"""Code that only a recording for TorchScript or ONNX runs, and what is said when an assertion fails."""

import torch
from torch import nn


def _is_tracing():
    return torch._C._get_tracing_state()


def _rows_for_export(x, mask):
    return x[:, : int(mask.sum())]


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, mask):
        if torch.jit.is_scripting() or _is_tracing():
            size = torch.tensor(x.shape[-2:])
        else:
            size = x.shape[-2:]
        if not torch.jit.is_scripting():
            limit = float(size[0])
        else:
            limit = x.new_full((), size[0])
        for row in x:
            if (row > limit).any():  # TL102
                torch._assert(False, f"too large: {row.amax()}, {row.tolist()}")
        for row in mask:
            if not row.any():  # TL102
                assert False, f"empty: {row.sum().item()}"
        if _is_tracing():
            return _rows_for_export(x, mask)
        return self.proj(x) / min(size)
