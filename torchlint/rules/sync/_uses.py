"""Where a value that was read from the device goes: whether the program needs it on the host to go on at all.

A simulator that is told an action, a tokenizer that decodes tokens and the decision that ends a decoding loop need one
read a step. Such reads are inherent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.semantics import hotness
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import within
from torchlint.semantics.values import Kind, Value

# Methods of simulators, called with an action, and of tokenizers, called with tokens.
_SIMULATES: Final = frozenset("step step_async step_wait send act".split())
_DECODES: Final = frozenset(
    """decode batch_decode detokenize convert_ids_to_tokens convert_tokens_to_string id_to_token IdToPiece DecodeIds
    id_to_piece decode_ids decode_single_token_bytes""".split()
)
# Calls whose result is their argument in another form.
_PASSES: Final = frozenset(
    """abs bool complex enumerate filter float int iter list map max min next reversed round set sorted str sum
    tuple zip numpy.array numpy.asarray numpy.ascontiguousarray numpy.asfortranarray numpy.clip
    numpy.concatenate numpy.float32 numpy.int64 numpy.squeeze numpy.stack""".split()
)
# Packages that compute on the host and return what they computed.
_HOST_CODE: Final = frozenset("PIL cv2 imageio librosa onnxruntime pycocotools scipy skimage sklearn soundfile".split())
_FAR: Final = 200  # expressions followed before the search is given up


def inherent(model: Model, read: cst.BaseExpression, context: Context) -> bool:
    """Whether the program cannot go on without the value that `read` brings to the host."""
    for around in _ends(model, read):
        if isinstance(around, cst.Call):
            if _wants_host_values(model, around):
                return True
        elif isinstance(around, (cst.If, cst.While)) and _ends_decoding(model, around, context):
            return True
    return False


def feeds_host_code(model: Model, read: cst.BaseExpression, context: Context) -> bool:
    """Whether the value goes into code that works on the host alone: a solver, an image library, another runtime.

    What is not read, and gives something back for an array within the same function, is taken for such code.
    """
    owner = context.owner
    for around in _ends(model, read):
        if isinstance(around, cst.Call) and not isinstance(model.parent(around), cst.Expr):
            callee = model.value(around.func)
            if (callee.qual or "").split(".", 1)[0] in _HOST_CODE or _runs_on_host(model, callee.fn):
                return True
            site = model.call(around)
            if site is None:
                continue
            if any(argument.name == "return_tensors" for argument in site.arguments):
                return True  # a tokenizer or processor
            if callee.kind is Kind.UNKNOWN and not _is_container(site.receiver) and site.context.owner is owner:
                if any(argument.value.kind is Kind.NDARRAY for argument in site.arguments):
                    return True
    return False


def _runs_on_host(model: Model, function: FunctionInfo | None) -> bool:
    """Whether a function is compiled for the host, as Numba does."""
    for node, _ in function.decorators if function is not None else ():
        name = model.value(node.func if isinstance(node, cst.Call) else node).qual or ""
        if name.startswith("numba.") and not name.startswith("numba.cuda"):
            return True
    return False


def _is_container(value: Value | None) -> bool:
    return value is not None and value.kind is Kind.CONTAINER


def decides_the_end(model: Model, condition: cst.BaseExpression, context: Context) -> bool:
    """Whether a condition is the one that ends a decoding loop."""
    node: cst.CSTNode | None = condition
    while isinstance(node, (cst.BaseExpression, cst.ComparisonTarget)):
        node = model.parent(node)
    return isinstance(node, (cst.If, cst.While)) and _ends_decoding(model, node, context)


def used_as_tensor(model: Model, node: cst.CSTNode) -> bool:
    """Whether the value of an expression goes straight into something that only tensors go into."""
    around = model.parent(node)
    if isinstance(around, cst.Attribute):
        return around.attr.value in known.TENSOR_ONLY_METHODS
    if isinstance(around, cst.Arg):
        call = model.parent(around)
        return isinstance(call, cst.Call) and (model.resolve(call.func) or "").startswith("torch.nn.functional.")
    return False


def _wants_host_values(model: Model, call: cst.Call) -> bool:
    if not isinstance(call.func, cst.Attribute):
        return False
    method = call.func.attr.value
    receiver = model.value(call.func.value)
    if receiver.kind not in (Kind.UNKNOWN, Kind.OBJECT) or (receiver.qual or "").startswith("torch."):
        return False
    if method in _DECODES:
        return True
    return method in _SIMULATES and len(call.args) == 1 and not isinstance(model.parent(call), cst.Expr)


def _ends_decoding(model: Model, branch: cst.If | cst.While, context: Context) -> bool:
    """Whether the branch leaves, or is, a loop that runs a model without training it."""
    if isinstance(branch, cst.If) and not _leaves(branch):
        return False
    for link in context.chain():
        if link.scope is Scope.LOOP:
            assert link.loop is not None
            if isinstance(branch, cst.While) and link.loop.node is not branch:
                continue
            if hotness.iterates(link) is not Iterates.STEPS:
                return False
            hot = model.hot(link)
            kinds = {effect.kind for effect in link.loop.body_effects}
            over_data = link.loop.iterable is not None and link.loop.iterable.kind is Kind.LOADER
            return (
                hot is not None
                and not hot.trains
                and not over_data
                and bool(kinds & {EffectKind.FORWARD, EffectKind.CALL})
            )
        if link.scope is Scope.FUNCTION:
            return False
    return False


def _leaves(branch: cst.If) -> bool:
    body = branch.body.body
    last = body[-1] if body else None
    if isinstance(last, cst.SimpleStatementLine):
        last = last.body[-1]
    return isinstance(last, (cst.Break, cst.Return))


def _ends(model: Model, read: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """The calls and branches that the value of an expression enters, followed through names, containers and returns."""
    todo: list[cst.CSTNode] = [read]
    seen: set[cst.CSTNode] = set()
    while todo and len(seen) < _FAR:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        around = model.parent(node)
        if isinstance(around, cst.Arg):
            call = model.parent(around)
            if isinstance(call, cst.Call):
                yield call
                if _passes(model, call):
                    todo.append(call)
                elif isinstance(call.func, cst.Attribute) and call.func.attr.value in ("append", "extend"):
                    todo.extend(_readings(model, call.func.value))
        elif isinstance(around, cst.Attribute):
            call = model.parent(around)
            if isinstance(call, cst.Call) and call.func is around:
                todo.append(call)
        elif isinstance(around, (cst.If, cst.While)):
            yield around
        elif isinstance(around, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            todo.extend(_readings(model, node))
            if isinstance(around, cst.NamedExpr):
                todo.append(around)
        elif isinstance(around, (cst.For, cst.CompFor)) and around.iter is node:
            todo.extend(_readings(model, node))
            todo.extend(_elements_read(model, around))
        elif isinstance(around, cst.Return):
            todo.extend(_callers(model, around))
        elif isinstance(
            around, (cst.BaseExpression, cst.BaseElement, cst.Index, cst.SubscriptElement, cst.ComparisonTarget)
        ):
            todo.append(around)


def _elements_read(model: Model, loop: cst.For | cst.CompFor) -> list[cst.CSTNode]:
    """Where the element of a loop or comprehension is read within it."""
    if not isinstance(loop.target, cst.Name):
        return []
    inside = loop.body if isinstance(loop, cst.For) else model.parent(loop)
    assert inside is not None
    name = loop.target.value
    return [n for n in within([inside]) if isinstance(n, cst.Name) and n.value == name and n is not loop.target]


def _passes(model: Model, call: cst.Call) -> bool:
    return model.resolve(call.func) in _PASSES


def _readings(model: Model, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Where a value that was given a name is read by that name."""
    return [use for origin in (*model.value(node).origins, node) for use in model.uses.get(origin, ())]


def _callers(model: Model, statement: cst.Return) -> list[cst.CSTNode]:
    node: cst.CSTNode | None = statement
    while node is not None and node not in model.functions:
        node = model.parent(node)
    return [caller.node for caller in model.functions[node].callers] if node is not None else []
