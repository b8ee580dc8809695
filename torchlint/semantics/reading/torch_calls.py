"""Functions of torch that need a word of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge.names import AUTOCASTS
from torchlint.semantics import sites
from torchlint.semantics.contexts import Scope
from torchlint.semantics.functions import EffectKind
from torchlint.semantics.reading.modules import all_sure
from torchlint.semantics.values import (
    ANYWHERE,
    ATTACHED,
    DETACHED,
    DEVICE,
    HOST,
    MAYBE,
    NONE,
    NUMBER,
    UNKNOWN,
    Gate,
    Kind,
    Value,
    device_bits,
)

if TYPE_CHECKING:
    from torchlint.semantics.reading.methods import MethodReader


def _device(reader: MethodReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    if value.kind is Kind.NUMBER:
        return Value(Kind.DEVICE, device=DEVICE)
    if isinstance(value.const, str):
        return Value(Kind.DEVICE, device=device_bits(value.const) or ANYWHERE)
    if value.kind in (Kind.STRING, Kind.DEVICE, Kind.UNKNOWN):
        return Value(Kind.DEVICE, device=value.device or ANYWHERE)
    return Value(Kind.DEVICE, device=ANYWHERE)


def _from_numpy(reader: MethodReader, site: sites.Call) -> Value:
    data = site.arguments[0].value if site.arguments else UNKNOWN
    return Value(
        Kind.TENSOR, Confidence.SURE, device=HOST, graph=DETACHED, pinned=False, dtype=data.dtype, origins=(site.node,)
    )


def _autocast(reader: MethodReader, site: sites.Call) -> Value:
    return Value(Kind.OBJECT, qual=site.callee, dtype=reader.dtype_argument(site), origins=(site.node,))


def _repeated(reader: MethodReader, site: sites.Call) -> Value:
    """What `torch.nn.modules.utils._pair` and its like make: a tuple, of what is no tuple yet."""
    value = site.arguments[0].value if site.arguments else UNKNOWN
    return value if value.kind is Kind.CONTAINER else Value(Kind.CONTAINER, qual="tuple", elem=value)


def _causal_mask(reader: MethodReader, site: sites.Call) -> Value:
    place = site.argument(1, "device")
    device = (place.value.device or ANYWHERE) if place is not None else HOST
    return Value(Kind.TENSOR, Confidence.SURE, device=device, graph=DETACHED, rank=2, origins=(site.node,))


def _load(reader: MethodReader, site: sites.Call) -> Value:
    place = site.argument(1, "map_location")
    device = HOST | ANYWHERE
    if place is not None:
        device = place.value.device or ANYWHERE
    # What a file holds under a key may be a number, a name or the state of anything, none of which is put anywhere.
    held = Value(Kind.UNKNOWN, device=device | ANYWHERE, graph=DETACHED)
    return Value(Kind.BATCH, Confidence.LIKELY, device=device, graph=DETACHED, elem=held, origins=(site.node,))


def _save(reader: MethodReader, site: sites.Call) -> Value:
    saved = site.arguments[0].value if site.arguments else UNKNOWN
    if not saved.on_host:
        reader.effect(EffectKind.WAIT, site.node)  # all that lies on a device is copied
    return NONE


def _compile(reader: MethodReader, site: sites.Call) -> Value:
    if not site.arguments or site.arguments[0].name not in (None, "model"):
        return Value(Kind.FUNCTION, qual="torch.compile")
    value = site.arguments[0].value
    reader.compile_value(value, reader.wants_fullgraph(site.node))
    return value.but(ident=None)


def _no_grad_globally(reader: MethodReader, site: sites.Call) -> Value:
    off = bool(site.arguments) and site.arguments[0].value.const is False
    if off and site.context.scope is Scope.MODULE and not isinstance(site.statement, cst.With):
        reader.model.grad_off = True
    return Value(Kind.OBJECT, qual="torch.set_grad_enabled")


def _set_default_device(reader: MethodReader, site: sites.Call) -> Value:
    value = site.arguments[0].value if site.arguments else UNKNOWN
    reader.model.default_device = value.device or ANYWHERE
    return NONE


def _cat(reader: MethodReader, site: sites.Call) -> Value:
    parts = site.argument(0, "tensors")
    value = parts.value if parts is not None else UNKNOWN
    element = reader.element(value)
    operands = [element]
    if value.kind is Kind.CONTAINER and value.items:
        operands = [item for key, item in value.items.items() if isinstance(key, int)] or operands
    result = reader.tensor(
        site.node, operands, Confidence.SURE if all_sure(operands) else Confidence.LIKELY, dtype=element.dtype
    )
    if any(operand.device == HOST and operand.kind is Kind.TENSOR for operand in operands):
        if not any(operand.device & DEVICE for operand in operands):
            result.device = HOST  # parts lie in one place, also those of which it is not known
    result.pinned = reader.pinned_after("cat", element, result)
    return reader.launch(result, site.node)


def _autograd_grad(reader: MethodReader, site: sites.Call) -> Value:
    first = site.arguments[0].value if site.arguments else UNKNOWN
    create = site.argument(3, "create_graph")
    graph = ATTACHED if create is not None and create.value.const is True else DETACHED
    if graph == DETACHED:  # else it is a part of the step that backward runs through later
        reader.effect(EffectKind.BACKWARD, site.node, first)
    reader.effect(EffectKind.LAUNCH, site.node, first)
    for argument in site.arguments[:2]:  # what it runs from, and what it runs back to
        if not argument.star:
            reader.note_root(argument.node)
    tensor = Value(
        Kind.TENSOR,
        Confidence.SURE,
        device=first.device or ANYWHERE,
        graph=graph,
        origins=(site.node,),
        deps=first.deps,
    )
    return Value(Kind.CONTAINER, qual="tuple", elem=tensor, origins=(site.node,))


def _backward(reader: MethodReader, site: sites.Call) -> Value:
    if site.arguments:
        reader.effect(EffectKind.BACKWARD, site.node, site.arguments[0].value)
        reader.note_root(site.arguments[0].node)
    return NONE


def _clip(reader: MethodReader, site: sites.Call) -> Value:
    reader.effect(EffectKind.LAUNCH, site.node)
    return Value(Kind.TENSOR, Confidence.SURE, device=ANYWHERE, graph=DETACHED, rank=0, origins=(site.node,))


def _where(reader: MethodReader, site: sites.Call) -> Value:
    """A choice between two; with a condition alone, the places where it holds: integers, one tensor a dimension."""
    if len(site.arguments) == 1 and not site.opaque_arguments:
        condition = site.arguments[0].value
        places = reader.tensor(site.node, [condition], Confidence.LIKELY, dtype="int64", rank=1)
        places.graph = DETACHED
        reader.launch(places, site.node)
        return Value(Kind.CONTAINER, qual="tuple", elem=places, origins=(site.node,))
    operands = [argument.value for argument in site.arguments]
    reader.note_mask(site.argument(0, "condition"))
    chosen = operands[1:] or [UNKNOWN]
    result = reader.tensor(
        site.node,
        operands,
        Confidence.SURE if all_sure(operands) else Confidence.LIKELY,
        dtype=next((value.dtype for value in chosen if value.is_tensor), None),
    )
    return reader.launch(result, site.node)


def _cuda_number(reader: MethodReader, site: sites.Call) -> Value:
    return NUMBER


def _has_cuda(reader: MethodReader, site: sites.Call) -> Value:
    return NUMBER.but(gates=(Gate.NONE, Gate.HOST))


def _has_other(reader: MethodReader, site: sites.Call) -> Value:
    return NUMBER.but(gates=(Gate.HOST, Gate.NONE))  # where another backend runs, nothing waits for CUDA


def _foreach(reader: MethodReader, site: sites.Call) -> Value:
    element = reader.element(site.arguments[0].value) if site.arguments else UNKNOWN
    tensor = reader.tensor(site.node, [element], Confidence.SURE)
    reader.launch(tensor, site.node)
    return Value(Kind.CONTAINER, qual="list", elem=tensor, origins=(site.node,))


def _variable(reader: MethodReader, site: sites.Call) -> Value:
    """`Variable(x)`, as it was written before tensors had graphs themselves: the tensor."""
    wrapped = site.arguments[0].value if site.arguments else UNKNOWN
    if wrapped.kind is not Kind.TENSOR:
        wrapped = wrapped.but(
            kind=Kind.TENSOR,
            conf=Confidence.LIKELY,
            device=wrapped.device or ANYWHERE,
            graph=wrapped.graph or MAYBE,
            items=None,
            elem=None,
        )
    asked = site.argument(1, "requires_grad")
    return wrapped.but(ident=None, graph=ATTACHED) if asked is not None and asked.value.const is True else wrapped


TORCH_CALLS: dict[str, Callable[[MethodReader, sites.Call], Value]] = {
    "torch.device": _device,
    "torch.from_numpy": _from_numpy,
    "torch.from_dlpack": lambda reader, site: Value(Kind.TENSOR, device=ANYWHERE, graph=DETACHED, origins=(site.node,)),
    "torch._shape_as_tensor": lambda reader, site: Value(
        Kind.TENSOR, device=HOST, graph=DETACHED, dtype="int64", rank=1, origins=(site.node,)
    ),
    "torch.load": _load,
    "torch.save": _save,
    **dict.fromkeys(AUTOCASTS, _autocast),
    "torch.nn.Transformer.generate_square_subsequent_mask": _causal_mask,
    "torch.compile": _compile,
    "torch.set_grad_enabled": _no_grad_globally,
    "torch.autograd.set_grad_enabled": _no_grad_globally,
    "torch.set_default_device": _set_default_device,
    **dict.fromkeys(
        ("torch.cuda.current_stream", "torch.cuda.default_stream"),
        lambda reader, site: Value(Kind.STREAM, qual="torch.cuda.Stream"),
    ),
    "torch.utils.data.random_split": lambda reader, site: Value(
        Kind.CONTAINER,
        qual="list",
        elem=site.arguments[0].value if site.arguments else Value(Kind.DATASET),
        origins=(site.node,),
    ),
    **dict.fromkeys(
        (
            "torch.cat",
            "torch.concat",
            "torch.concatenate",
            "torch.stack",
            "torch.hstack",
            "torch.vstack",
            "torch.dstack",
            "torch.block_diag",
            "torch.nn.utils.rnn.pad_sequence",
        ),
        _cat,
    ),
    "torch.where": _where,
    "torch.autograd.grad": _autograd_grad,
    "torch.autograd.backward": _backward,
    "torch.autograd.Variable": _variable,
    **dict.fromkeys((f"torch.nn.utils.{name}" for name in ("_single", "_pair", "_triple", "_quadruple")), _repeated),
    "torch.nn.utils.clip_grad_norm_": _clip,
    "torch.nn.utils.clip_grad_value_": lambda reader, site: NONE,
    **dict.fromkeys(
        """torch.cuda.device_count torch.cuda.current_device torch.cuda.memory_allocated
        torch.cuda.max_memory_allocated torch.cuda.memory_reserved torch.cuda.get_device_name torch.cuda.mem_get_info
        torch.cuda.get_device_properties torch.cuda.get_device_capability torch.cuda.is_bf16_supported""".split(),
        _cuda_number,
    ),
    "torch.cuda.is_available": _has_cuda,
    "torch.backends.mps.is_available": _has_other,
    **dict.fromkeys(
        [
            f"torch._foreach_{name}"
            for name in "add mul sub div sqrt neg norm exp abs pow lerp maximum minimum reciprocal".split()
        ],
        _foreach,
    ),
    "torch.Tensor.backward": _backward,
}
