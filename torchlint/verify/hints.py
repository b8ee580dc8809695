"""What comments and annotations say of inputs: they are parsed, never evaluated."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

from torchlint.verify.uses import last_name

__all__ = ["HintError", "declared", "hints"]

_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_HINT = re.compile(r"#\s*torchlint:\s*input\s+(?P<rest>.*)")
_ONE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\S.*?)\s*$")
MAX_SAID = 60  # characters of a hint in a message
MAX_DIGITS = 12  # of a size
_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d,\s]*)\]")
# jaxtyping's names, and the dtype that each stands for.
_JAXTYPES = {
    "Float": "float", "Float16": "float16", "BFloat16": "bfloat16", "Float32": "float32", "Float64": "float64",
    "Int": "int64", "Int32": "int32", "Int64": "int64", "Integer": "int64", "UInt8": "uint8", "Bool": "bool",
    "Num": "float", "Real": "float", "Inexact": "float", "Shaped": "float",
}  # fmt: skip
_AXES = {  # names of axes, and the sizes they have here
    r"b|bs|batch(_size)?|n|num_.*": "B",
    r"t|s|l|q|k|seq(_len)?|time|length|tokens?|src|tgt|steps?": "T",
    r"h|heads?|n_heads?|num_heads": "H",
    r"h(eight)?|w(idth)?|x|y": "S",
    r"c|ch|channels?": "C",
}


class HintError(ValueError):
    """A hint that cannot be read; the text says which and why."""


def hints(lines: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The inputs that comments name, `# torchlint: input q=bf16[8,16,2048,64], steps=100`, by name.

    Raises:
        HintError: one that cannot be read.
    """
    found = {}
    for row, line in enumerate(lines, start=1):
        match = _HINT.search(line)
        if match is None:
            continue
        for part in re.split(r",\s*(?=[A-Za-z_]\w*\s*=)", match["rest"]):
            one = _ONE.match(part)
            if one is None:
                raise HintError(
                    f"line {row}: an input hint reads name=dtype[sizes] or name=number, not '{part.strip()[:MAX_SAID]}'"
                )
            found[one["name"]] = {**_hinted(one["value"], row), "origin": f"hint in line {row}"}
    return found


def _hinted(text: str, row: int) -> dict[str, Any]:
    said = f"{text[:MAX_SAID]}…" if len(text) > MAX_SAID else text
    tensor = _TENSOR.fullmatch(text)
    if tensor is not None:
        dtype = _DTYPES.get(tensor["dtype"], tensor["dtype"])
        if dtype not in _DTYPES.values():
            raise HintError(f"line {row}: no dtype is called '{tensor['dtype'][:MAX_SAID]}'")
        sizes = tensor["shape"].replace(",", " ").split()
        if any(len(size) > MAX_DIGITS for size in sizes):
            raise HintError(f"line {row}: no tensor is as large as '{said}'")
        return {"kind": "tensor", "dtype": dtype, "shape": [int(size) for size in sizes]}
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise HintError(f"line {row}: '{said}' is neither a tensor such as f32[8,16] nor a literal") from error
    if not _is_plain(value):
        raise HintError(f"line {row}: '{said}' is no number, text, or list or dictionary of them")
    return {"kind": "number", "value": value}


def _is_plain(value: Any, depth: int = 8) -> bool:
    """Whether JSON can say it: it travels in a plan."""
    if isinstance(value, (list, tuple)):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, dict):
        plain = all(isinstance(key, str) and _is_plain(item, depth - 1) for key, item in value.items())
        return depth > 0 and plain
    if isinstance(value, int):
        return value.bit_length() < 64
    return value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


def declared(node: ast.expr) -> dict[str, Any] | None:
    """A tensor with its shape, from `Float[Tensor, "batch time 64"]`, or a list of tensors."""
    if not isinstance(node, ast.Subscript):
        return None
    head = last_name(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head in _JAXTYPES and len(parts) == 2 and isinstance(parts[1], ast.Constant):
        return {"kind": "tensor", "dtype": _JAXTYPES[head], "shape": _axes(str(parts[1].value))}
    if head in ("list", "List", "Sequence", "Iterable") and last_name(parts[0]) == "Tensor":
        return {"kind": "list", "item": {"kind": "tensor", "dtype": "float"}}
    return None


def _axes(text: str) -> list[Any]:
    """The sizes of axes by name: numbers as they are, the others as symbols."""
    found: list[Any] = []
    for axis in text.split():
        name = axis.lstrip("*#?_").partition("=")[2] or axis.lstrip("*#?_")
        if name.isdigit():
            found.append(int(name))
        elif axis == "...":
            found.append("B")
        else:
            low = name.lower()
            found.append(next((size for pattern, size in _AXES.items() if re.fullmatch(pattern, low)), "D"))
    return found
