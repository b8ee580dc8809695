"""The dtypes of NumPy's arrays: what a function or an operator gives, as far as it is known."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.knowledge import arrays as known
from torchlint.semantics import sites
from torchlint.semantics.values import HOST, Kind, Value


def array(site: sites.Call, dtype: str | None, name: str) -> Value:
    """An array that a call of the function, or of the method of that name, makes: a single number is one of rank 0."""
    asked = {argument.name for argument in site.arguments} & {"axis", "keepdims", "out"}
    given = len(site.arguments) - (site.receiver is None or site.receiver.kind is not Kind.NDARRAY)
    whole = name in known.TO_A_NUMBER and not asked and given <= 0 and not site.opaque_arguments
    if name in known.DRAWS and not site.opaque_arguments:
        whole = site.argument(known.DRAWS[name], "size") is None
    operands = [argument.value for argument in site.arguments]
    if site.receiver is not None and site.receiver.kind is Kind.NDARRAY:
        operands = [site.receiver] if name == "numpy.astype" else [site.receiver, *operands]
    if name in known.DTYPES:  # `np.int64(n)`
        whole = not any(map(_may_be_many, operands))
    elif name in known.ELEMENTWISE or name == "numpy.astype":
        whole = bool(operands) and all(map(is_single, operands))
    return Value(Kind.NDARRAY, device=HOST, dtype=dtype, rank=0 if whole else None, origins=(site.node,))


def is_single(value: Value) -> bool:
    """Whether it is one number: Python's, or one of NumPy's."""
    return value.kind is Kind.NUMBER or (value.kind is Kind.NDARRAY and value.rank == 0)


def _may_be_many(value: Value) -> bool:
    """Whether there is a sign that it holds several numbers."""
    return value.kind is Kind.CONTAINER or (value.kind is Kind.NDARRAY and value.rank != 0) or bool(value.rank)


def function_dtype(qual: str, site: sites.Call) -> str | None:
    """The dtype of what a function of NumPy gives; None where it is not known."""
    if qual in known.DTYPES:
        return known.DTYPES[qual]
    if qual in known.TRUTHS:
        return "bool"
    if qual in known.POSITIONS:
        return "int64"
    asked = site.argument(None, "dtype")
    if asked is None and qual in ("numpy.array", "numpy.asarray", "numpy.zeros", "numpy.ones", "numpy.empty"):
        asked = site.argument(1)
    if asked is not None:
        return spelled_dtype(asked.value)
    if site.opaque_arguments:
        return None
    if qual in known.DOUBLES:
        return "float64"
    values = [argument.value for argument in site.arguments if argument.name in (None, "a", "x", "fill_value")]
    if qual == "numpy.arange":
        counts = len(values) == 1 and values[0].kind is Kind.UNKNOWN
        return "int64" if counts else combined(values, numbers=True)
    if qual == "numpy.full":
        return combined(values[1:2], numbers=True)
    if qual == "numpy.where":
        return combined(values[1:])
    if qual in known.KEEP or qual in known.REAL or qual in known.COMBINE:
        dtype = combined(values[:1] if qual in known.KEEP else values, numbers=True)
        return "float64" if qual in known.REAL and dtype in known.INTEGERS else dtype
    return None


def method_dtype(method: str, receiver: Value, site: sites.Call) -> str | None:
    """The dtype of what a method of an array gives."""
    if method in ("astype", "view"):
        asked = site.argument(0, "dtype")
        return spelled_dtype(asked.value) if asked is not None else receiver.dtype
    if f"numpy.{method}" in known.TRUTHS:
        return "bool"
    if f"numpy.{method}" in known.POSITIONS:
        return "int64"
    asked = site.argument(None, "dtype")
    if asked is not None:
        return spelled_dtype(asked.value)
    return "float64" if method in ("mean", "std", "var") and receiver.dtype in known.INTEGERS else receiver.dtype


def operator_dtype(operator: str, left: Value, right: Value) -> str | None:
    """The dtype of arithmetic between arrays, or an array and a number."""
    if operator == "/" and (left.dtype in known.WIDE or right.dtype in known.WIDE):
        return "float64"
    return combined((left, right))


def spelled_dtype(value: Value) -> str | None:
    """The dtype that an argument names: `np.float32`, "float32", `float`, `other.dtype`."""
    if value.kind is Kind.STRING:
        return known.DTYPES.get(value.const) if isinstance(value.const, str) else None
    return value.dtype if value.kind is Kind.DTYPE else known.DTYPES.get(value.qual or "")


def combined(values: Iterable[Value], *, numbers: bool = False) -> str | None:
    """The dtype that arrays have together, or those in a list; with `numbers` also that of an array made of numbers."""
    arrays: set[str | None] = set()
    plain: set[str | None] = set()  # Python numbers adapt to the arrays beside them, in their kind
    for value in values:
        if value.kind is Kind.CONTAINER:
            members = list((value.items or {}).values()) or ([value.elem] if value.elem is not None else [])
            arrays.add(combined(members, numbers=numbers))
        elif value.kind is Kind.NUMBER:
            plain.add(known.DTYPES.get(value.dtype or ""))
        else:
            arrays.add(value.dtype if value.kind is Kind.NDARRAY else None)
    if numbers and not arrays:
        arrays, plain = plain, set()
    if "float64" in arrays:
        return "float64"
    if None in arrays or not arrays:
        return None
    if arrays <= known.INTEGERS:
        return "float64" if "float64" in plain else arrays.pop() if len(arrays) == 1 else None
    if len(arrays) == 1:
        return arrays.pop()
    return "float64" if arrays & known.WIDE else None  # a narrow float beside wide integers
