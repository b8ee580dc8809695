"""Reading elements: x[...] with every kind of index, and sequences indexed by device tensors (TL105, TL106, TL109)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import numpy as np
x = torch.randn(64, 64, device="cuda")
v = torch.rand(64, device="cuda")
cube = torch.randn(8, 8, 8, device="cuda")
ints = torch.arange(64, device="cuda")
mask = x > 0
rows = v > 0.5
idx = torch.tensor([0, 2, 1], device="cuda")
grid = torch.tensor([[0, 1], [2, 3]], device="cuda")
host_idx = torch.tensor([0, 2, 1])
host_mask = torch.rand(64, 64) > 0.5
host_rows = torch.rand(64) > 0.5
t = torch.tensor(3, device="cuda")
host_t = torch.tensor(3)
flag = torch.tensor(True, device="cuda")
bool_list = [True, False] * 32
array = np.array([0, 2, 1])
array_mask = np.arange(64) % 2 == 0
seq = list(range(8))
layers = [torch.nn.Identity() for _ in range(8)]
hx = torch.randn(64, 64)
"""

ROWS = (
    # By numbers and slices
    row("x[0]", "x[...]", index="integer"),
    row("x[-1]", "x[...]", index="integer"),
    row("x[0, 1]", "x[...]", index="integer"),
    row("v[3]", "x[...]", index="integer"),
    row("x[1:5]", "x[...]", index="slice"),
    row("x[::2]", "x[...]", index="slice"),
    row("x[:, 3]", "x[...]", index="slice"),
    row("x[..., -1]", "x[...]", index="slice"),
    row("x[:, None]", "x[...]", index="slice"),
    row("x[None]", "x[...]", index="slice"),
    row("x[...]", "x[...]", index="slice"),
    row("x[:, 1:]", "x[...]", index="slice"),
    row("x[1:5, ::3]", "x[...]", index="slice"),
    row("x[True]"),
    # By masks
    row("x[mask]", "x[...]", index="device mask"),
    row("x[x > 0]", "x[...]", index="device mask"),
    row("x[~mask]", "x[...]", index="device mask"),
    row("x[rows]", "x[...]", index="device mask"),
    row("x[:, rows]", "x[...]", index="device mask"),
    row("x[rows, 0]", "x[...]", index="device mask"),
    row("x[rows][:, 0]", "x[...]", index="device mask"),
    row("v[rows].mean()", "x[...]", index="device mask"),
    row("x[mask].sum()", "x[...]", index="device mask"),
    row("x[flag]", "x[...]", index="device mask"),
    row("x[mask.byte().bool()]", "x[...]", index="device mask"),
    row("x[host_mask]", "x[...]", index="host mask"),
    row("x[host_rows]", "x[...]", index="host mask"),
    row(
        "long[long_mask]",
        "x[...]",
        index="host mask",
        setup='long = torch.randn(2**21, device="cuda")\nlong_mask = torch.rand(2**21) > 0.1\n',
    ),
    row("x[bool_list]", "x[...]", index="list"),
    row("x[array_mask]", "x[...]", index="ndarray"),
    row("hx[host_mask]", "x[...]", input="host", index="host mask"),
    # By integers on the device
    row("x[idx]", "x[...]", index="device integers"),
    row("x[grid]", "x[...]", index="device integers"),
    row("x[:, idx]", "x[...]", index="device integers"),
    row("x[..., idx]", "x[...]", index="device integers"),
    row("x[idx, idx]", "x[...]", index="device integers"),
    row("x[idx, 0]", "x[...]", index="device integers"),
    row("x[idx, 1:5]", "x[...]", index="device integers"),
    row("x[idx][:, idx]", "x[...]", index="device integers"),
    row("x[idx[:, None], idx]", "x[...]", index="device integers"),
    row('x[torch.arange(3, device="cuda"), idx]', "x[...]", index="device integers"),
    row("x[ints, ints.flip(0)]", "x[...]", index="device integers"),
    row('x[torch.randperm(64, device="cuda")]', "x[...]", index="device integers"),
    row("v[v.argsort()]", "x[...]", index="device integers"),
    row("x[idx.int()]", "x[...]", index="device integers"),
    # By a 0-d tensor on the device
    row("x[t]", "x[...]", index="device scalar"),
    row("x[:, t]", "x[...]", index="device scalar"),
    row("x[..., t]", "x[...]", index="device scalar"),
    row("x[t, t]", "x[...]", index="device scalar"),
    row("v[t]", "x[...]", index="device scalar"),
    row("v[v.argmax()]", "x[...]", index="device scalar"),
    row("x[t[None]]", "x[...]", index="device integers"),
    row("x[idx, t]", "x[...]", index="device scalar"),
    row("x[host_t]", "x[...]", index="host scalar"),
    row("x[t.item()]", ".item"),
    row("x[int(t)]", "int", x="device"),
    row("x[:t]", "x[...]", index="slice with a device bound"),
    row("x[t:]", "x[...]", index="slice with a device bound"),
    row("x[..., :t]", "x[...]", index="slice with a device bound"),
    row("x[t:t + 2]", "x[...]", index="slice with a device bound"),
    row("x[:, ::t]", "x[...]", index="slice with a device bound"),
    row("x[:host_t]", "x[...]", index="slice with a host bound"),
    # By values of the host
    row("x[[0, 2, 1]]", "x[...]", index="list"),
    row("x[[0]]", "x[...]", index="list"),
    row("x[:, [-1]]", "x[...]", index="list"),
    row("x[:, [0, 2]]", "x[...]", index="list"),
    row("x[..., [0, 2]]", "x[...]", index="list"),
    row("x[[0, 1], [2, 3]]", "x[...]", index="list"),
    row("x[(0, 2)]", "x[...]", index="integer"),
    row("x[range(3)]", "x[...]", index="list"),
    row("x[array]", "x[...]", index="ndarray"),
    row("x[:, array]", "x[...]", index="ndarray"),
    row("x[host_idx]", "x[...]", index="host integers"),
    row("x[:, host_idx]", "x[...]", index="host integers"),
    row("x[idx, host_idx]", "x[...]", index="host integers"),
    row("x[torch.arange(3), idx]", "x[...]", index="host integers"),
    row("x[torch.arange(3)]", "x[...]", index="host integers"),
    row("x[torch.randperm(64)]", "x[...]", index="host integers"),
    row("x[idx, [0, 1, 2]]", "x[...]", index="list"),
    row("x[host_idx.pin_memory()]", "x[...]", index="pinned integers"),
    row('x[host_idx.to("cuda")]', "x[...]", index="host integers"),
    row("hx[host_idx]", "x[...]", input="host", index="host integers"),
    row("hx[[0, 2, 1]]", "x[...]", input="host", index="list"),
    row("hx[idx]", "x[...]", input="host", index="device integers", raises=True),
    # Python sequences by a device tensor
    row("seq[t]", "sequence[...]", index="device scalar"),
    row("tuple(seq)[t]", "sequence[...]", index="device scalar"),
    row("layers[t]", "sequence[...]", index="device scalar"),
    row("seq[:t]", "sequence[...]", index="slice with a device bound"),
    row('"abcdefgh"[t]', "sequence[...]", index="device scalar"),
    row("{3: 1}.get(t)"),
    row("range(8)[t]", "sequence[...]", index="device scalar"),
    row("x.shape[host_t - 3]", "sequence[...]", index="host scalar"),
    # The same by functions
    row("x.index_select(0, idx)", ".index_select"),
    row("torch.index_select(x, 1, idx)", "torch.index_select"),
    row("x.index_select(0, host_idx)", ".index_select", index="host integers", raises=True),
    row("torch.take(x, idx)", "torch.take"),
    row("x.take(idx)", ".take"),
    row("torch.take_along_dim(x, ints[:, None], 1)", "torch.take_along_dim"),
    row("torch.gather(x, 1, grid)", "torch.gather"),
    row("x.gather(0, grid)", ".gather"),
    row("x.select(0, 1)", ".select", index="number"),
    row("x.select(0, t)", ".select", index="device scalar"),
    row("x.narrow(0, 1, 3)", ".narrow", start="number", length="number"),
    row("x.diagonal()", ".diagonal"),
    row("cube[0, idx, 1:3]", "x[...]", index="device integers"),
    row("cube[:, idx, idx]", "x[...]", index="device integers"),
    row("cube[..., 0]", "x[...]", index="slice"),
)
