"""Host to device: copies, tensors made of Python data and of arrays (TL207, TL208, TL5xx)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import io
import numpy as np
small = torch.randn(64, 64)
edge = torch.randn(128, 128)
large = torch.randn(1024, 1024)
pinned = torch.randn(64, 64).pin_memory()
pinned_large = torch.randn(1024, 1024).pin_memory()
ints = torch.randint(0, 10, (64,))
x = torch.randn(64, 64, device="cuda")
dev = torch.empty(64, 64, device="cuda")
dev_edge = torch.empty(128, 128, device="cuda")
dev_large = torch.empty(1024, 1024, device="cuda")
host_scalar = torch.tensor(0.5)
s = torch.tensor(0.5, device="cuda")
n = torch.tensor(3, device="cuda")
array = np.random.rand(64, 64)
array_large = np.random.rand(512, 512)
numbers = [1.0, 2.0, 3.0]
device = torch.device("cuda")
host_model = torch.nn.Linear(8, 8)
model = torch.nn.Linear(8, 8).to("cuda")
batch = {"x": small, "y": ints}

def saved(state):
    buffer = io.BytesIO()
    torch.save(state, buffer)
    buffer.seek(0)
    return buffer

buffer = saved(model.state_dict())
"""


# An asynchronous copy of pageable memory returns once the driver has its own copy of the data: what fits into the
# driver's buffer does not wait, what does not fit waits for the device. `nbytes` says which; SIZES looks for the limit.
SMALL = "up to 2 MiB"
BIG = "2.5 MiB or more"
SIZES = {  # in KiB
    **dict.fromkeys((64, 65, 256, 1024, 2048), SMALL),
    **dict.fromkeys((2560, 3072, 3584, 4096, 16384), BIG),
}


def to(source: str, non_blocking: str, nbytes: str) -> dict[str, str]:
    return {"source": source, "target": "device", "non_blocking": non_blocking, "nbytes": nbytes}


PAGEABLE = to("pageable", "false", SMALL)
PAGEABLE_ASYNC = to("pageable", "true", SMALL)
LARGE = to("pageable", "false", BIG)
LARGE_ASYNC = to("pageable", "true", BIG)
PINNED = to("pinned", "false", SMALL)
PINNED_ASYNC = to("pinned", "true", SMALL)
PINNED_LARGE = to("pinned", "false", BIG)
PINNED_LARGE_ASYNC = to("pinned", "true", BIG)
ON_DEVICE = {"source": "device", "target": "device", "non_blocking": "false"}

ROWS = (
    row('small.to("cuda")', ".to", **PAGEABLE),
    row("small.to(device)", ".to", **PAGEABLE),
    row("small.to(x.device)", ".to", **PAGEABLE),
    row("small.to(x)", ".to", **PAGEABLE),
    row('ints.to("cuda")', ".to", **PAGEABLE),
    row('small.to("cuda", torch.float16)', ".to", **PAGEABLE),
    row('small.t().to("cuda")', ".to", **PAGEABLE),
    row('large.to("cuda")', ".to", **LARGE),
    row('host_scalar.to("cuda")', ".to", **PAGEABLE),
    row('pinned.to("cuda")', ".to", **PINNED),
    row('pinned_large.to("cuda")', ".to", **PINNED_LARGE),
    row('small.to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row('host_scalar.to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row('ints.to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row('edge.to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row('large.to("cuda", non_blocking=True)', ".to", **LARGE_ASYNC),
    row('large.t().to("cuda", non_blocking=True)', ".to", **LARGE_ASYNC),
    row('pinned.to("cuda", non_blocking=True)', ".to", **PINNED_ASYNC),
    row('pinned.to("cuda", torch.float16, non_blocking=True)', ".to", **PINNED_ASYNC),
    row('pinned.t().to("cuda", non_blocking=True)', ".to", **PINNED_ASYNC),
    row('pinned_large.to("cuda", non_blocking=True)', ".to", **PINNED_LARGE_ASYNC),
    *(
        row(
            'host.to("cuda", non_blocking=True)',
            ".to",
            setup=f"host = torch.ones({kib}, 1024, dtype=torch.uint8)\n",
            **to("pageable", "true", nbytes),
        )
        for kib, nbytes in SIZES.items()
    ),
    row(
        '[part.to("cuda", non_blocking=True) for part in parts]',
        setup="parts = [torch.ones(1024, 1024, dtype=torch.uint8) for _ in range(8)]\n",
    ),
    row("small.cuda()", ".cuda", **PAGEABLE),
    row("large.cuda()", ".cuda", **LARGE),
    row("small.cuda(non_blocking=True)", ".cuda", **PAGEABLE_ASYNC),
    row("large.cuda(non_blocking=True)", ".cuda", **LARGE_ASYNC),
    row("pinned.cuda()", ".cuda", **PINNED),
    row("pinned.cuda(non_blocking=True)", ".cuda", **PINNED_ASYNC),
    row("pinned_large.cuda(non_blocking=True)", ".cuda", **PINNED_LARGE_ASYNC),
    row("x.type_as(dev)", ".type_as", source="device", target="device"),
    row("small.type_as(x)", ".type_as", source="pageable", target="device"),
    row("small.type(torch.cuda.FloatTensor)", ".type", source="pageable", target="device"),
    row("dev.copy_(small)", ".copy_", **PAGEABLE),
    row("dev.copy_(small, non_blocking=True)", ".copy_", **PAGEABLE_ASYNC),
    row("dev_edge.copy_(edge, non_blocking=True)", ".copy_", **PAGEABLE_ASYNC),
    row("dev_large.copy_(large)", ".copy_", **LARGE),
    row("dev_large.copy_(large, non_blocking=True)", ".copy_", **LARGE_ASYNC),
    row("dev.copy_(pinned)", ".copy_", **PINNED),
    row("dev.copy_(pinned, non_blocking=True)", ".copy_", **PINNED_ASYNC),
    row("dev_large.copy_(pinned_large, non_blocking=True)", ".copy_", **PINNED_LARGE_ASYNC),
    row("dev.copy_(x)", ".copy_", **ON_DEVICE),
    row("small.pin_memory()", ".pin_memory"),
    row('small.pin_memory().to("cuda", non_blocking=True)', ".to", **PINNED_ASYNC),
    row('{k: v.to("cuda") for k, v in batch.items()}', ".to", **PAGEABLE),
    row('{k: v.to("cuda", non_blocking=True) for k, v in batch.items()}', ".to", **PAGEABLE_ASYNC),
    # Already there
    row('x.to("cuda")', ".to", **ON_DEVICE),
    row("x.cuda()", ".cuda", **ON_DEVICE),
    row("x.to(torch.float16)", ".to", **ON_DEVICE),
    row("x.to(device, torch.bfloat16)", ".to", **ON_DEVICE),
    row("x.bfloat16()", ".bfloat16"),
    row("x.int()", ".int"),
    row("x.byte()", ".byte"),
    row("x.half()", ".half"),
    row("x.float()", ".float"),
    row("x.double()", ".double"),
    row("x.long()", ".long"),
    row("x.bool()", ".bool"),
    row('model.to("cuda")', "torch.nn.Module.to", source="device", target="device"),
    row("model.half()", "torch.nn.Module.half"),
    row('host_model.to("cuda")', "torch.nn.Module.to", source="pageable", target="device"),
    row("host_model.cuda()", "torch.nn.Module.cuda"),
    row("model.cpu()", "torch.nn.Module.cpu"),
    row('model.to("cpu")', "torch.nn.Module.to", source="device", target="pageable"),
    row('torch.load(buffer, map_location="cuda")', "torch.load"),
    # Python data
    row('torch.tensor([1.0, 2.0, 3.0], device="cuda")', "torch.tensor", data="list", device="device"),
    row('torch.tensor(numbers, device="cuda")', "torch.tensor", data="list", device="device"),
    row("torch.tensor([[0, 1], [1, 0]], device=x.device)", "torch.tensor", data="list", device="device"),
    row('torch.tensor([], device="cuda")', "torch.tensor", data="empty list", device="device"),
    row('torch.tensor(1.0, device="cuda")', "torch.tensor", data="number", device="device"),
    row("torch.tensor(3, device=x.device)", "torch.tensor", data="number", device="device"),
    row('torch.tensor(float("-inf"), device="cuda")', "torch.tensor", data="number", device="device"),
    row('torch.tensor(True, device="cuda")', "torch.tensor", data="number", device="device"),
    row("torch.tensor(numbers)", "torch.tensor", data="list", device="absent"),
    row("torch.tensor(numbers).cuda()", ".cuda", **PAGEABLE),
    row('torch.tensor(numbers).to("cuda")', ".to", **PAGEABLE),
    row('torch.tensor(numbers).to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row('torch.tensor(numbers).pin_memory().to("cuda", non_blocking=True)', ".to", **PINNED_ASYNC),
    row('torch.tensor(numbers, pin_memory=True).to("cuda", non_blocking=True)', ".to", **PINNED_ASYNC),
    row('torch.tensor([s, s], device="cuda")', "torch.tensor", data="list of device scalars", device="device"),
    row("torch.tensor([s, s])", "torch.tensor", data="list of device scalars", device="absent"),
    row("torch.as_tensor([s, s])", "torch.as_tensor", data="list of device scalars", device="absent"),
    row("torch.tensor(s)", "torch.tensor", data="device", device="absent"),
    row("torch.tensor(x)", "torch.tensor", data="device", device="absent"),
    row('torch.tensor(s, device="cuda")', "torch.tensor", data="device", device="device"),
    row('torch.as_tensor(numbers, device="cuda")', "torch.as_tensor", data="list", device="device"),
    row('torch.as_tensor(1.0, device="cuda")', "torch.as_tensor", data="number", device="device"),
    row("torch.as_tensor(x)", "torch.as_tensor", data="device", device="absent"),
    row('torch.as_tensor(x, device="cuda")', "torch.as_tensor", data="device", device="device"),
    row('torch.as_tensor(array, device="cuda")', "torch.as_tensor", data="ndarray", device="device"),
    row('torch.as_tensor(small, device="cuda")', "torch.as_tensor", data="host", device="device"),
    row('torch.asarray(numbers, device="cuda")', "torch.asarray", obj="list", device="device"),
    row('torch.tensor(array, device="cuda")', "torch.tensor", data="ndarray", device="device"),
    row('torch.from_numpy(array).to("cuda")', ".to", **PAGEABLE),
    row("torch.from_numpy(array).cuda(non_blocking=True)", ".cuda", **PAGEABLE_ASYNC),
    row('torch.from_numpy(array_large).to("cuda", non_blocking=True)', ".to", **PAGEABLE_ASYNC),
    row("torch.from_numpy(array)", "torch.from_numpy"),
    row('torch.tensor(np.array([1.0, 2.0]), device="cuda")', "torch.tensor", data="ndarray", device="device"),
    row('torch.FloatTensor(numbers).to("cuda")', ".to", **PAGEABLE),
    row("torch.cuda.FloatTensor(numbers)", "torch.cuda.FloatTensor"),
    row("x.new_tensor(numbers)", ".new_tensor", data="list"),
    row("x.new_tensor(1.0)", ".new_tensor", data="number"),
    row("x.new_tensor(s)", ".new_tensor", data="device"),
    row("x.new(numbers)", ".new"),
    row("torch.stack([s, s])", "torch.stack"),
    row(
        'torch.stack([torch.tensor(1.0, device="cuda") for _ in numbers])',
        "torch.tensor",
        data="number",
        device="device",
    ),
    row('torch.scalar_tensor(1.0, device="cuda")', "torch.scalar_tensor"),
    row('torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (4,), device="cuda")'),
    # Factories
    row('torch.zeros(3, device="cuda")', "torch.zeros", size="number"),
    row('torch.ones(3, 3, device="cuda")', "torch.ones", size="number"),
    row('torch.empty(3, device="cuda")', "torch.empty", size="number"),
    row('torch.full((3,), 1.0, device="cuda")', "torch.full", size="number", fill_value="number"),
    row('torch.full((), 1.0, device="cuda")', "torch.full", size="number", fill_value="number"),
    row('torch.arange(10, device="cuda")', "torch.arange", end="number"),
    row('torch.arange(0.0, 1.0, 0.1, device="cuda")', "torch.arange", end="number"),
    row('torch.linspace(0, 1, 5, device="cuda")', "torch.linspace", start="number", end="number", steps="number"),
    row('torch.logspace(0, 1, 5, device="cuda")', "torch.logspace"),
    row('torch.eye(3, device="cuda")', "torch.eye", n="number"),
    row("torch.zeros_like(x)", "torch.zeros_like"),
    row("torch.ones_like(x)", "torch.ones_like"),
    row("torch.empty_like(x)", "torch.empty_like"),
    row("torch.full_like(x, 1.0)", "torch.full_like", fill_value="number"),
    row("torch.randn_like(x)", "torch.randn_like"),
    row("torch.rand_like(x)", "torch.rand_like"),
    row("x.new_zeros(3)", ".new_zeros", size="number"),
    row("x.new_full((3,), 1.0)", ".new_full", size="number", fill_value="number"),
    row("x.new_empty(3)", ".new_empty", size="number"),
    row("x.new_ones(3)", ".new_ones", size="number"),
    row('torch.tril(torch.ones(8, 8, device="cuda"))', "torch.tril", diagonal="absent"),
    row('torch.tril_indices(4, 4, device="cuda")', "torch.tril_indices"),
    row('torch.triu_indices(4, 4, device="cuda")', "torch.triu_indices"),
    row('torch.hann_window(16, device="cuda")', "torch.hann_window"),
    row('torch.zeros(3).to("cuda")', ".to", **PAGEABLE),
    row("torch.randn(8).cuda()", ".cuda", **PAGEABLE),
    row('torch.arange(10).to("cuda")', ".to", **PAGEABLE),
    # Two devices in one operation
    row("x + host_scalar", "operand", other="host scalar"),
    row("x * host_scalar", "operand", other="host scalar"),
    row("host_scalar - x", "operand", other="host scalar"),
    row("torch.maximum(x, host_scalar)", "operand", other="host scalar"),
    row("x.add_(host_scalar)", "operand", other="host scalar"),
    row("x ** host_scalar", "operand", other="host scalar"),
    row("x > host_scalar", "operand", other="host scalar"),
    row("x + 0.5", "operand", other="number"),
    row("x * s", "operand", other="device"),
    row("x + torch.tensor(0.5)", "operand", other="host scalar"),
    row("x + small", "operand", other="host", raises=True),
    row("x @ small", "operand", other="host", raises=True),
)
