"""Whether two variants computed the same.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from torchlint.verify.standins import printable

COMPARED = 1 << 24  # elements of results that are compared at once
# Largest difference of results, relative to the largest magnitude, that counts as equal.
TOLERANCE = {"float64": 1e-6, "float32": 1e-3, "float16": 2e-2, "bfloat16": 3e-2, "complex64": 1e-3, "complex128": 1e-6}


def same(torch: Any, one: Any, other: Any, depth: int = 20) -> tuple[bool | None, str]:
    """Whether two results agree, and where not; None where they hold objects that cannot be compared.

    Tensors and floats agree to a tolerance that follows the dtype, relative to the largest magnitude.
    """
    if not depth:
        return None, "nested too deeply to compare"
    kind = type(one)
    if issubclass(kind, torch.Tensor) and issubclass(type(other), torch.Tensor):
        return _same_tensors(torch, one.detach(), other.detach())
    numbers = (int, float, bool)
    if kind in numbers and type(other) in numbers:
        if one == other or (one != one and other != other):
            return True, ""
        if max(abs(one), abs(other)) > 1e300:
            return False, "numbers differ"
        close = abs(one - other) <= TOLERANCE["float32"] * max(abs(one), abs(other))
        return close, "" if close else printable(f"{one!r} and {other!r}")
    if (issubclass(kind, torch.Tensor) or kind in numbers) and (
        issubclass(type(other), torch.Tensor) or type(other) in numbers
    ):
        pair = [x.detach() if issubclass(type(x), torch.Tensor) else torch.tensor(x) for x in (one, other)]
        if all(x.numel() == 1 for x in pair):
            return same(torch, float(pair[0]), float(pair[1]), depth - 1)
        return False, "a number and a tensor"
    if kind is not type(other):
        if kind in (list, tuple) and type(other) in (list, tuple):
            return same(torch, list(one), list(other), depth)
        known = (list, tuple, dict, str, type(None), *numbers)
        if kind in known and type(other) in known:
            return False, f"{kind.__name__} and {type(other).__name__}"
        return None, f"values of {printable(kind.__name__, 60)} are not compared"
    if one is None:
        return True, ""
    if kind is str:
        return one == other, "" if one == other else "texts differ"
    if kind in (list, tuple):
        if len(one) != len(other):
            return False, f"{len(one)} and {len(other)} items"
        return _all(same(torch, a, b, depth - 1) for a, b in zip(one, other))  # noqa: B905 (Python 3.9)
    if kind is dict:
        keys = [key for key in one if type(key) in (str, int)]
        if len(keys) != len(one) or len(one) != len(other):
            return (None, "keys are not compared") if len(keys) != len(one) else (False, "keys differ")
        if any(key not in other for key in keys):
            return False, "keys differ"
        return _all(same(torch, one[key], other[key], depth - 1) for key in keys)
    if "numpy" in sys.modules and kind is sys.modules["numpy"].ndarray and one.dtype.kind in "fiubc":
        return same(torch, torch.from_numpy(one.copy()), torch.from_numpy(other.copy()), depth - 1)
    return None, f"values of {printable(kind.__name__, 60)} are not compared"


def _all(results: Iterator[tuple[bool | None, str]]) -> tuple[bool | None, str]:
    unknown: tuple[bool | None, str] | None = None
    for equal, why in results:
        if equal is False:
            return equal, why
        if equal is None:
            unknown = (equal, why)
    return unknown or (True, "")


def _same_tensors(torch: Any, one: Any, other: Any) -> tuple[bool | None, str]:
    if one.shape != other.shape:
        return False, f"shapes {tuple(one.shape)} and {tuple(other.shape)}"
    if one.layout != torch.strided or other.layout != torch.strided:
        return None, "sparse tensors are not compared"
    if one.numel() == 0:
        return True, ""
    names = [str(x.dtype).replace("torch.", "") for x in (one, other)]
    tolerance = max(TOLERANCE.get(name, 0.0) for name in names)
    kind = torch.complex128 if one.dtype.is_complex or other.dtype.is_complex else torch.float64
    difference = scale = 0.0
    one, other = one.reshape(-1), other.reshape(-1)
    for first in range(0, one.numel(), COMPARED):  # large results do not fit in memory twice over
        a = one[first : first + COMPARED].to(kind)
        b = other[first : first + COMPARED].to(a.device, kind)
        if kind.is_complex:
            a, b = torch.view_as_real(a), torch.view_as_real(b)
        finite = torch.isfinite(a) & torch.isfinite(b)
        if not torch.equal(torch.nan_to_num(a[~finite], 1.5), torch.nan_to_num(b[~finite], 1.5)):
            return False, "infinities or NaN differ"
        if bool(finite.any()):
            a, b = a[finite], b[finite]
            difference = max(difference, float((a - b).abs().max()))
            scale = max(scale, float(torch.maximum(a.abs(), b.abs()).max()))
    if difference <= tolerance * scale:
        return True, ""
    return False, f"they differ by {difference:.3g} where the largest magnitude is {scale:.3g}"
