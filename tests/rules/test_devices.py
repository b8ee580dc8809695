"""What is said of CUDA holds for every kind of accelerator, by whatever words a program names it."""

from __future__ import annotations

import functools
import re

import pytest

from tests.rules.helpers import reports
from torchlint.findings import Confidence
from torchlint.knowledge.devices import MOVES
from torchlint.knowledge.names import canonical
from torchlint.rules import pages

# TF32 and the profiler's fields of old are CUDA's alone.
_OF_CUDA = {"TL401", "TL708"}
_BLOCKS = [
    (code, block.source)
    for code in pages.codes()
    for block in pages.load(code).of_kind("bad")
    if code not in _OF_CUDA and re.search(r"\.cuda\(|torch\.cuda\b|\"cuda", block.source)
]


def _renamed(source: str, kind: str) -> str:
    if kind not in MOVES:
        source = source.replace(".cuda()", f'.to("{kind}")').replace(".cuda(", f'.to("{kind}", ')
    return re.sub(r"(?<!backends\.)cuda", kind, source)


@functools.cache
def _found(code: str, source: str) -> list[tuple[int, Confidence]]:
    return [(row, report.confidence) for row, report in reports(source, code)]


@pytest.mark.parametrize("kind", ["xpu", "npu", "hpu", "mps"])
def test_each_page_holds_for_another_kind_of_device(kind: str) -> None:
    assert len({code for code, _ in _BLOCKS}) > 20
    differing = [code for code, source in _BLOCKS if _found(code, source) != _found(code, _renamed(source, kind))]
    assert differing == []


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("torch.xpu.synchronize", "torch.cuda.synchronize"),
        ("torch.accelerator.current_stream", "torch.cuda.current_stream"),
        ("torch_npu.npu.Event", "torch.cuda.Event"),
        ("habana_frameworks.torch.hpu", "torch.cuda"),
        ("torch.mpsx.synchronize", "torch.mpsx.synchronize"),
        ("torch_npu.npu_format_cast", "torch_npu.npu_format_cast"),
        ("xpu.synchronize", "xpu.synchronize"),
    ],
)
def test_what_runs_a_device_goes_by_its_name_for_cuda(name: str, public: str) -> None:
    assert canonical(name) == public


@pytest.mark.parametrize(
    ("moved", "module"),
    [
        ("net.xpu()", "torch.xpu"),
        ('net.to("npu:0")', "torch.npu"),
        ('net.to("xla")', "torch.accelerator"),
        ('net.cuda() if fast else net.to("mps")', "torch.cuda"),
        ("net.to(device)", "torch.cuda"),
    ],
)
def test_the_advice_names_what_runs_the_devices_of_the_file(moved: str, module: str) -> None:
    source = f"""
        import time

        import torch
        from torch import nn


        def bench(net: nn.Module, x: torch.Tensor, device, fast):
            {moved}
            begin = time.perf_counter()
            net(x)
            return time.perf_counter() - begin
        """
    ((_, report),) = reports(source, "TL701")
    assert f"`{module}.synchronize()`" in report.advice
    assert report.fix is not None
    assert f"{module}.synchronize()" in report.fix.edits[0].content
