"""What the model takes code for, in words for people who disagree: why it is not hot, and what its values are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from torchlint.semantics import hotness, reach, rounds
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import COLD_ROLES, FunctionInfo, Role
from torchlint.semantics.values import ANYWHERE, ATTACHED, DETACHED, DEVICE, HOST, MAYBE, MISSING, Gate, Kind, Value

if TYPE_CHECKING:
    import libcst as cst

__all__ = ["Reason", "facts", "in_words", "why_cold"]

Reason = tuple[str, "cst.CSTNode | None"]

_MOST_CALLERS = 3  # of more, the next ones tell the same
_DEEPEST = 6  # calls followed outwards

_GATES = {
    Gate.RARE: "this condition holds now and then, not on every step",
    Gate.DEBUG: "this condition holds for debugging, tracing or profiling only",
}
_ROLES = {
    Role.SETUP: "`{}` sets up, loads, saves or exports: it does not run on every step",
    Role.WORKER: "`{}` runs in a loader's worker, beside the steps",
    Role.TEST: "`{}` belongs to a test",
}


def why_cold(context: Context) -> list[Reason]:
    """What keeps code from being hot, from the line outwards; empty where it is hot."""
    return [] if hotness.hot(context) is not None else list(_reasons(context, frozenset()))


def _reasons(context: Context, seen: frozenset[FunctionInfo]) -> Iterator[Reason]:
    for link in context.chain():
        if link.scope is Scope.LOOP:
            what = rounds.iterates(link)
            if what is Iterates.STEPS:
                owner = link.owner
                if owner is not None and owner.role in COLD_ROLES:
                    yield _ROLES[owner.role].format(owner.qualname), owner.node
                else:
                    yield "this loop of steps belongs to a test", link.node
                return
            if what is Iterates.EPOCHS:
                yield "each round of this loop is an epoch", link.node
                return
        elif link.scope is Scope.BRANCH:
            if link.gate in _GATES and not (link.gate is Gate.RARE and hotness.accumulates(link)):
                yield _GATES[link.gate], link.test if link.test is not None else link.node
                return
            if link.owner is not None and not reach.opens(link.owner, link.asks):
                yield "this switch is left as it is by every call that is seen, which keeps the branch out", link.test
                return
        elif link.scope is Scope.HANDLER:
            yield "an exception handler runs where something failed", link.node
            return
        elif link.scope is Scope.CLASS:
            yield "the body of a class runs once", link.node
            return
        elif link.scope is Scope.FUNCTION:
            assert link.function is not None
            yield from _reasons_of_body(link.function, seen)
            return
    yield "no loop of steps is around it, and a module's own code runs once", None


def _reasons_of_body(function: FunctionInfo, seen: frozenset[FunctionInfo]) -> Iterator[Reason]:
    name = f"`{function.qualname}`"
    if function.role in COLD_ROLES:
        yield _ROLES[function.role].format(function.qualname), function.node
        return
    if not function.callers:
        how = (
            "it is passed on as a value, and who calls it is not known"
            if function.passed_on
            else "no call of it is seen"
        )
        yield f"no loop of steps is around it in {name}, and {how}", function.node
        return
    yield f"no loop of steps is around it in {name}, and none of its calls is hot", function.node
    if function in seen or len(seen) >= _DEEPEST:
        return
    for caller in function.callers[:_MOST_CALLERS]:
        yield f"{name} is called here", caller.node
        yield from _reasons(caller.context, seen | {function})
    if len(function.callers) > _MOST_CALLERS:
        yield f"{name} has {len(function.callers) - _MOST_CALLERS} more calls like these", None


_KINDS = {
    Kind.NDARRAY: "array of NumPy",
    Kind.STRING: "text",
    Kind.NONE: "None",
    Kind.SHAPE: "sizes of a tensor",
    Kind.CLOCK: "reading of a host clock",
    Kind.BATCH: "batch of a loader",
    Kind.SCALER: "gradient scaler",
    Kind.NAMESPACE: "Python module",
}
_PLACES = {
    DEVICE: "on the device",
    HOST: "on the host",
    DEVICE | HOST: "on the device or the host",
    DEVICE | ANYWHERE: "on the device at times",
    HOST | ANYWHERE: "on the host at times",
}
_GRAPHS = {ATTACHED: "with a graph", DETACHED: "without a graph"}
_WITH_DATA = frozenset({Kind.TENSOR, Kind.BATCH, Kind.MODULE, Kind.DEVICE, Kind.UNKNOWN})
_WITH_GRAPH = frozenset({Kind.TENSOR, Kind.BATCH})
_NAMED = frozenset({Kind.MODULE, Kind.OPTIMIZER, Kind.LOADER, Kind.DATASET, Kind.FUNCTION, Kind.CLASS, Kind.OBJECT})


def in_words(value: Value) -> str:
    """What a value is, in a line: `tensor on the device, with a graph, float32 (likely)`."""
    said = [_KINDS.get(value.kind, value.kind.value)]
    if value.kind is Kind.CONTAINER and value.elem is not None:
        said[0] += f" of {_KINDS.get(value.elem.kind, value.elem.kind.value)}"
    name = value.cls.qualname if value.cls is not None else value.fn.qualname if value.fn is not None else value.qual
    if name and value.kind in _NAMED:
        said[0] += f" `{name}`"
    if value.kind in _WITH_DATA:
        place = _PLACES.get(value.device)
        if place is not None:
            said[0] += f" {place}"
        elif value.kind in _WITH_GRAPH:
            said.append("place not known")
    if value.kind in _WITH_GRAPH:
        said.append(_GRAPHS.get(value.graph, "graph not known"))
    if value.dtype:
        said.append(value.dtype)
    if value.shape is not None:
        said.append("sizes [" + ", ".join("?" if size is None else str(size) for size in value.shape) + "]")
    elif value.rank is not None:
        said.append(f"{value.rank} dimensions")
    if value.pinned is not None:
        said.append("in pinned memory" if value.pinned else "in pageable memory")
    if value.const is not MISSING and value.kind is not Kind.NONE:
        said.append(repr(value.const))
    if value.optional:
        said.append("or None")
    sure = value.kind is Kind.UNKNOWN or str(value.conf) == "sure"
    return ", ".join(said) + ("" if sure else f" ({value.conf})")


def facts(value: Value) -> dict[str, object]:
    """What is known of a value as plain data: sets of possibilities as lists, None for what is not known."""
    return {
        "kind": value.kind.value,
        "confidence": str(value.conf),
        "device": _listed(value.device, {HOST: "host", DEVICE: "device", ANYWHERE: "unknown"}),
        "graph": _listed(value.graph, {DETACHED: "detached", ATTACHED: "attached", MAYBE: "unknown"}),
        "dtype": value.dtype,
        "rank": value.rank,
        "sizes": None if value.shape is None else list(value.shape),
        "pinned": value.pinned,
        "name": value.cls.qualname if value.cls is not None else value.qual,
        "optional": value.optional,
    }


def _listed(bits: int, names: dict[int, str]) -> list[str]:
    return [name for bit, name in names.items() if bits & bit]
