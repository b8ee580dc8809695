"""Reading values of device tensors: numbers, copies to the host, text (TL101, TL103, TL104)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import io
import json
import logging
import math
import operator
import pickle
import random
import numpy as np
x = torch.randn(64, 64, device="cuda")
v = torch.rand(8, device="cuda")
loss = torch.rand((), device="cuda")
one = torch.rand(1, device="cuda")
count = torch.tensor(3, device="cuda")
host = torch.empty(64, 64)
pinned = torch.empty(64, 64, pin_memory=True)
host_loss = torch.rand(())
sink = io.StringIO()
logger = logging.Logger("torchlint", logging.INFO)
logger.addHandler(logging.StreamHandler(sink))
"""

MATH = "sqrt exp log isnan isfinite isinf floor ceil cos".split()

ROWS = (
    # Scalar conversions
    row("loss.item()", ".item"),
    row("x[0, 0].item()", ".item"),
    row("x.sum().item()", ".item"),
    row("loss.detach().item()", ".item"),
    row("host_loss.item()", ".item", input="host"),
    row("float(loss)", "float", x="device"),
    row("float(one)", "float", x="device"),
    row("float(x.mean())", "float", x="device"),
    row("float(host_loss)", "float", x="host"),
    row("int(count)", "int", x="device"),
    row("int(loss * 10)", "int", x="device"),
    row("complex(loss)", "complex", real="device"),
    row("operator.index(count)", "operator.index"),
    row("count.__index__()", ".__index__"),
    row("math.pow(loss, 2)", "math.pow", x="device"),
    *(row(f"math.{name}(loss)", f"math.{name}", x="device") for name in MATH),
    *(row(f"math.{name}(0.5)", f"math.{name}", x="number") for name in MATH),
    row("random.randrange(count)", "random.randrange", stop="device"),
    row("random.randrange(3)", "random.randrange", stop="number"),
    row("int(host_loss)", "int", x="host"),
    row("complex(host_loss)", "complex", real="host"),
    row("host_loss.tolist()", ".tolist", input="host"),
    row("loss.is_nonzero()", ".is_nonzero"),
    row("torch.is_nonzero(loss)", "torch.is_nonzero"),
    row("abs(loss)", "abs"),
    row("pow(loss, 2)", "pow"),
    row("loss ** 2"),
    row("-loss"),
    row("x.tolist()", ".tolist"),
    row("loss.tolist()", ".tolist"),
    row("v.data.tolist()", ".tolist"),
    # Copies to the host
    row("x.cpu()", ".cpu"),
    row("loss.cpu()", ".cpu"),
    row("x.detach().cpu()", ".cpu"),
    row("host.cpu()", ".cpu", input="host"),
    row("x.cpu().numpy()", ".cpu"),
    row("x.detach().cpu().numpy()", ".cpu"),
    row('x.to("cpu")', ".to", source="device", target="pageable", non_blocking="false"),
    row('x.to(torch.device("cpu"))', ".to", source="device", target="pageable", non_blocking="false"),
    row('x.to(device="cpu", dtype=torch.float64)', ".to", source="device", target="pageable", non_blocking="false"),
    row('x.to("cpu", non_blocking=True)', ".to", source="device", target="pageable", non_blocking="true"),
    row("x.to(host)", ".to", source="device", target="pageable", non_blocking="false"),
    row("x.type_as(host)", ".type_as", source="device", target="pageable"),
    row("x.type(torch.FloatTensor)", ".type", source="device", target="pageable"),
    row("x.type(torch.float64)", ".type", source="device", target="device"),
    row("x.numpy()", raises=True),
    row("np.asarray(x)", raises=True),
    row("x.numpy(force=True)", ".numpy", force="true"),
    row("host.numpy()", ".numpy", force="absent"),
    row("np.asarray(x.cpu())", ".cpu"),
    row("host.copy_(x)", ".copy_", source="device", target="pageable", non_blocking="false"),
    row("host.copy_(x, non_blocking=True)", ".copy_", source="device", target="pageable", non_blocking="true"),
    row("pinned.copy_(x)", ".copy_", source="device", target="pinned", non_blocking="false"),
    row("pinned.copy_(x, non_blocking=True)", ".copy_", source="device", target="pinned", non_blocking="true"),
    row("host[:] = x", "x[...] =", input="host", value="device", index="slice"),
    row("host[0] = x[0]", "x[...] =", input="host", value="device", index="integer"),
    row('torch.as_tensor(x, device="cpu")', "torch.as_tensor", data="device", device="host"),
    row('torch.tensor(loss, device="cpu")', "torch.tensor", data="device", device="host"),
    row("x.untyped_storage().cpu()"),
    row("pickle.dumps(x)", "pickle.dumps"),
    row("torch.save(x, io.BytesIO())", "torch.save"),
    # Text
    row('f"{loss}"', "format"),
    row('f"{loss:.3f}"', "format"),
    row('f"{loss!r}"', "format"),
    row('f"{x}"', "format"),
    row('"{:.3f}".format(loss)', "format"),
    row('"{}".format(loss)', "format"),
    row('"%s" % loss', "format"),
    row('"%.3f" % loss', "format"),
    row('format(loss, ".3f")', "format"),
    row("str(loss)", "str"),
    row("str(x)", "str"),
    row("repr(x)", "repr"),
    row("repr(loss)", "repr"),
    row("print(loss, file=sink)", "print"),
    row("print(x, file=sink)", "print"),
    row('print("loss", loss.detach(), file=sink)', "print"),
    row('logger.info("loss %s", loss)', "logging", level="enabled"),
    row('logger.info("loss %.3f", loss)', "logging", level="enabled"),
    row('logger.debug("loss %s", loss)', "logging", level="disabled"),
    row('logger.debug(f"loss {loss}")', "format"),
    row('json.dumps({"loss": loss.item()})', ".item"),
    row('f"{x.shape} {x.device} {x.dtype}"'),
    row("print(x.shape, file=sink)"),
    # What a tensor knows without its values
    row("x.shape"),
    row("x.size(0)", ".size"),
    row("x.numel()", ".numel"),
    row("x.dim()", ".dim"),
    row("x.stride()", ".stride"),
    row("x.is_contiguous()", ".is_contiguous"),
    row("x.data_ptr()", ".data_ptr"),
    row("x.element_size()", ".element_size"),
    row("len(x)", "len"),
    row("hash(x)", "hash"),
    row("id(x)", "id"),
    row("x is None"),
    row("isinstance(x, torch.Tensor)", "isinstance"),
    row("torch.is_tensor(x)", "torch.is_tensor"),
    row("x.detach()", ".detach"),
    row("x.clone()", ".clone"),
    row("x.requires_grad"),
    row('x.device == torch.device("cuda", 0)'),
)
