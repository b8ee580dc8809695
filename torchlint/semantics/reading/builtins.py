"""Calls of Python's builtins."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchlint.findings import Confidence
from torchlint.knowledge.arrays import TO_A_NUMBER
from torchlint.semantics import sites
from torchlint.semantics.functions import ClassInfo, EffectKind, Parameter
from torchlint.semantics.names import identifier
from torchlint.semantics.values import (
    ANYWHERE,
    HOST,
    MAYBE,
    MISSING,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    join,
    join_optional,
)

if TYPE_CHECKING:
    from torchlint.semantics.reading.methods import MethodReader


def _number(reader: MethodReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        value = argument.value
        if value.kind is Kind.TENSOR:
            reader.host_read(value, site.node)
            return NUMBER.but(origins=(site.node,))
        if value.kind is Kind.NUMBER:
            return value if value.qual else NUMBER.but(const=value.const, origins=value.origins)
    return NUMBER


def _text(reader: MethodReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        reader.formatted(site.node, argument.node, argument.value, site.callee or "str")
    return STRING


def _print(reader: MethodReader, site: sites.Call) -> Value:
    for argument in site.arguments:
        if argument.name is None:
            reader.formatted(site.node, argument.node, argument.value, "print")
    return NONE


def _bool(reader: MethodReader, site: sites.Call) -> Value:
    for argument in site.arguments[:1]:
        reader.truth(site.node, argument.value, "bool")
    return NUMBER


def _len(reader: MethodReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    return NUMBER.but(qual="tensor size") if value.kind in (Kind.TENSOR, Kind.BATCH, Kind.SHAPE) else NUMBER


def _range(reader: MethodReader, site: sites.Call) -> Value:
    values = [argument.value for argument in site.arguments]
    sized = any(v.qual == "tensor size" for v in values)
    numbers = [v.const for v in values]
    count: object = MISSING
    if len(numbers) == 1 and isinstance(numbers[0], int):
        count = numbers[0]
    elif len(numbers) in (2, 3) and all(isinstance(n, int) for n in numbers):
        with contextlib.suppress(ValueError, OverflowError):  # a step of 0; more rounds than a number counts
            count = len(range(*numbers))
    return Value(
        Kind.CONTAINER,
        qual="range of tensor size" if sized else "range",
        elem=NUMBER.but(qual="index"),
        const=count,
        origins=(site.node,),
    )


def _enumerate(reader: MethodReader, site: sites.Call) -> Value:
    inner = site.arguments[0].value if site.arguments else UNKNOWN
    element = reader.element(inner)
    index = NUMBER.but(qual="index")
    pair = Value(Kind.CONTAINER, qual="tuple", items={0: index, 1: element}, elem=element)
    return _like_iterable(inner, pair)


def _like_iterable(inner: Value, element: Value) -> Value:
    """An iterator over the same things in another form: what it iterates is still known."""
    if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE, Kind.TENSOR):
        return (
            inner.but(elem=element, ident=None, const=MISSING)
            if inner.kind is not Kind.TENSOR
            else Value(Kind.CONTAINER, qual="tensor size", elem=element, device=inner.device)
        )
    return Value(
        Kind.CONTAINER,
        qual=inner.qual if inner.qual in ("modules", "range of tensor size", "range", "tensor size") else "iterator",
        elem=element,
        items=None,
        const=inner.const if inner.qual == "range" else MISSING,
    )


def zipped(reader: MethodReader, site: sites.Call) -> Value:
    inners = [argument.value for argument in site.arguments if argument.name is None]
    elements = [reader.element(value) for value in inners]
    if len(inners) == 1 and site.arguments[0].star == "*":
        rows = elements[0]
        if rows.kind is Kind.CONTAINER:
            return _transposed(rows)
        if rows.kind is Kind.PARAMETERS:
            return rows.but(elem=Value(Kind.CONTAINER, qual="tuple", elem=reader.element(rows)), ident=None)
    pair = Value(
        Kind.CONTAINER,
        qual="tuple",
        items=dict(enumerate(elements)) if not site.opaque_arguments else None,
        elem=functools.reduce(join, elements) if elements else UNKNOWN,
    )
    for inner in inners:
        if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE):
            return inner.but(elem=pair, ident=None)
    for inner in inners:
        if inner.kind is Kind.TENSOR:
            return _like_iterable(inner, pair)
    return Value(Kind.CONTAINER, qual="iterator", elem=pair)


def _transposed(row: Value) -> Value:
    """`zip(*rows)`: a tuple of all first members, one of all second members, ..."""
    columns = {
        place: Value(Kind.CONTAINER, qual="tuple", elem=item)
        for place, item in (row.items or {}).items()
        if isinstance(place, int)
    }
    column = Value(Kind.CONTAINER, qual="tuple", elem=row.elem)
    return Value(Kind.CONTAINER, qual="iterator", elem=column, items=columns or None)


def _same_elements(reader: MethodReader, site: sites.Call) -> Value:
    if not site.arguments:
        return Value(
            Kind.CONTAINER,
            qual=site.callee if site.callee in ("list", "tuple", "set") else "list",
            origins=(site.node,),
        )
    inner = site.arguments[0].value
    if site.callee == "sorted":
        _judged(reader, site, reader.element(inner))
    if inner.kind in (Kind.LOADER, Kind.PARAMETERS, Kind.MODULE):
        return inner.but(ident=None)
    if inner.kind is Kind.CONTAINER and inner.qual != "dict":  # which gives its keys
        if site.callee in ("list", "tuple", "set", "sorted") and inner.qual != "modules":
            return inner.but(
                qual="list" if site.callee == "sorted" else site.callee,
                origins=(site.node,),
                items=dict(inner.items) if inner.items and inner.qual in ("list", "tuple") else None,
            )
        return inner
    if inner.kind is Kind.SHAPE:
        return Value(Kind.CONTAINER, qual="list", elem=NUMBER.but(qual="tensor size"), items=inner.items)
    element = reader.element(inner)
    return Value(Kind.CONTAINER, qual="list", elem=element, origins=(site.node,))


def _judged(reader: MethodReader, site: sites.Call, element: Value) -> None:
    """`sorted(rows, key=score)`: the key runs for each element."""
    key = site.argument(None, "key")
    function = key.value if key is not None else UNKNOWN
    if function.fn is not None and function.fn.parameters:
        for parameter in _given(function)[:1]:
            reader.pass_value(parameter, site.node, element, {})
        reader.called(function.fn, site.node)


def _given(function: Value) -> list[Parameter]:
    """The parameters that a call of a function by position fills, its first one where it is not bound."""
    assert function.fn is not None
    bound = function.bound is not None and function.fn.method == "instance"
    return function.fn.parameters[1:] if bound else function.fn.parameters


def _next(reader: MethodReader, site: sites.Call) -> Value:
    return reader.element(site.arguments[0].value) if site.arguments else UNKNOWN


def _map(reader: MethodReader, site: sites.Call) -> Value:
    function = site.arguments[0].value if site.arguments else UNKNOWN
    if function.fn is not None:
        info = function.fn
        values: dict[int, Value] = {}
        for parameter, argument in zip(_given(function), site.arguments[1:], strict=False):
            reader.pass_value(parameter, site.node, reader.element(argument.value), values)
        reader.called(info, site.node)
        if info.returns is not None:
            return Value(Kind.CONTAINER, qual="iterator", elem=reader.instantiate(info, info.returns, values))
    if (function.qual or "").startswith("numpy."):
        rank = 0 if function.qual in TO_A_NUMBER or function.qual in ("numpy.percentile", "numpy.quantile") else None
        return Value(Kind.CONTAINER, qual="iterator", elem=Value(Kind.NDARRAY, device=HOST, rank=rank))
    if function.qual in ("float", "int", "str", "len", "bool"):
        return Value(Kind.CONTAINER, qual="iterator", elem=STRING if function.qual == "str" else NUMBER)
    return Value(Kind.CONTAINER, qual="iterator", elem=UNKNOWN)


def _filter(reader: MethodReader, site: sites.Call) -> Value:
    return site.arguments[1].value if len(site.arguments) > 1 else UNKNOWN


def _extreme(reader: MethodReader, site: sites.Call) -> Value:
    """`max`, `min`: one of the arguments, or of the elements."""
    values = [argument.value for argument in site.arguments if argument.name is None and not argument.star]
    if len(values) == 1:
        result = reader.element(values[0], values=True)
        _judged(reader, site, reader.element(values[0]))
    elif values:
        result = functools.reduce(join, values)
    else:
        return UNKNOWN
    if result.kind is Kind.TENSOR:
        result = result.but(origins=(site.node,), ident=None)
        if not result.on_host:
            reader.effect(EffectKind.WAIT, site.node, result)
    elif result.kind is Kind.NUMBER:
        result = NUMBER.but(qual="tensor size") if any(v.qual == "tensor size" for v in values) else NUMBER
    return result


def _sum(reader: MethodReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value, values=True) if site.arguments else UNKNOWN
    if element.kind in (Kind.TENSOR, Kind.BATCH):
        return reader.launch(reader.tensor(site.node, [element], rank=element.rank, dtype=element.dtype), site.node)
    if element.kind is Kind.UNKNOWN:
        return element.but(origins=(site.node,), ident=None)
    return NUMBER


def _truths(reader: MethodReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value, values=True) if site.arguments else UNKNOWN
    if element.kind is Kind.TENSOR and not element.on_host:
        reader.effect(EffectKind.WAIT, site.node, element)
    return NUMBER


def _abs(reader: MethodReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    if value.is_tensor:
        return reader.launch(reader.tensor(site.node, [value], dtype=value.dtype, rank=value.rank), site.node)
    return NUMBER.but(gates=value.gates) if value.kind is Kind.NUMBER else value.but(ident=None)


def _getattr(reader: MethodReader, site: sites.Call) -> Value:
    if len(site.arguments) < 2:
        return UNKNOWN
    base, given = site.arguments[0].value, site.arguments[1].value
    name = given.const
    if isinstance(name, str):
        found = reader.attribute_of(base, identifier(name), site.node)
        if len(site.arguments) > 2 and found.kind is Kind.UNKNOWN:
            default = site.arguments[2].value
            return default.but(conf=Confidence.LIKELY) if default.kind is Kind.CONTAINER else UNKNOWN
        return found
    if given.ident is not None and (base.cls is not None or base.classes):
        # Which method it is, each caller tells: what runs is noted where the name is passed.
        known = reader.frame.info.named_methods.get(given.ident)
        reader.frame.info.named_methods[given.ident] = base if known is None else join(known, base)
        return UNKNOWN.but(origins=(site.node,))
    if given.ident is not None and base.kind is Kind.UNKNOWN:
        reader.frame.info.named_anywhere.add(given.ident)
        return UNKNOWN.but(origins=(site.node,))
    if base.kind is Kind.NAMESPACE and base.qual in ("torch.optim", "torch.nn"):
        return Value(Kind.FUNCTION, qual=f"{base.qual}.?")
    return UNKNOWN


def _setattr(reader: MethodReader, site: sites.Call) -> Value:
    if len(site.arguments) == 3:
        base, name, value = (argument.value for argument in site.arguments)
        if base.cls is not None and isinstance(name.const, str):
            reader.store(base.cls, name.const, site.node, value.but(ident=None, deps=0))
    return NONE


def _sentinel(reader: MethodReader, site: sites.Call) -> Value:
    return Value(Kind.OBJECT, origins=(site.node,))


def _type(reader: MethodReader, site: sites.Call) -> Value:
    """The class of a value, or with three arguments a new one: calling it makes an object, it is no module's call."""
    value = site.arguments[0].value if len(site.arguments) == 1 else UNKNOWN
    return Value(Kind.CLASS, qual=value.qual if value.kind is Kind.OBJECT else None, cls=value.cls)


def _asked(reader: MethodReader, site: sites.Call) -> Value:
    """`isinstance` and its like: an answer that nothing is computed for."""
    return NUMBER


def _following(reader: MethodReader, cls: ClassInfo | None) -> list[ClassInfo]:
    """Whose method of the same name comes after that of a class without bases, in a class that mixes it in.

    Not for what Python calls itself: constructors hand on what the others take.
    """
    name = reader.frame.info.name
    if cls is None or name.startswith("__"):
        return []
    reader.model.overrides(cls, name)  # whatever file has such a class
    found: list[ClassInfo] = []
    for mixed in cls.subclasses:
        order = mixed.lineage()
        after = order[order.index(cls) + 1 :]
        found += [other for other in after if name in other.methods][:1]
    return found


def _super(reader: MethodReader, site: sites.Call) -> Value:
    cls = reader.frame.info.cls
    if cls is None and reader.frame.info.parent is not None:
        cls = reader.frame.info.parent.cls
    parents = cls.parents() if cls is not None else []
    following = parents or _following(reader, cls)
    if following:
        return reader.instance_of(following[0]).but(qual="super")
    if cls is not None and reader.is_module(cls):
        return Value(Kind.MODULE, Confidence.LIKELY, device=ANYWHERE, graph=MAYBE, qual="super")
    return Value(Kind.OBJECT, qual="super")


def _dict_call(reader: MethodReader, site: sites.Call) -> Value:
    items: dict[Any, Value] = {}
    elem: Value | None = None
    for argument in site.arguments:
        value = argument.value
        if argument.name is not None:
            items[argument.name] = value
            elem = join_optional(elem, value)
        elif value.kind is Kind.CONTAINER:
            items.update({k: v for k, v in (value.items or {}).items() if isinstance(k, str)})
            held = reader.element(value, values=True)
            pair = held.items if value.qual != "dict" and held.kind is Kind.CONTAINER else None
            elem = join_optional(elem, pair[1] if pair and set(pair) == {0, 1} else held)  # `dict(zip(names, values))`
    return Value(Kind.CONTAINER, qual="dict", items=items or None, elem=elem, origins=(site.node,))


BUILTIN_CALLS: dict[str, Callable[[MethodReader, sites.Call], Value]] = {
    "float": _number,
    "int": _number,
    "complex": _number,
    "round": _number,
    "str": _text,
    "repr": _text,
    "format": _text,
    "print": _print,
    "bool": _bool,
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": zipped,
    "iter": _same_elements,
    "list": _same_elements,
    "tuple": _same_elements,
    "set": _same_elements,
    "sorted": _same_elements,
    "reversed": _same_elements,
    "next": _next,
    "map": _map,
    "filter": _filter,
    "max": _extreme,
    "min": _extreme,
    "sum": _sum,
    "any": _truths,
    "all": _truths,
    "abs": _abs,
    "getattr": _getattr,
    "setattr": _setattr,
    "type": _type,
    "isinstance": _asked,
    "hasattr": _asked,
    "callable": _asked,
    "super": _super,
    "object": _sentinel,
    "dict": _dict_call,
}
