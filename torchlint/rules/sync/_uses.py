"""Where a value that was read from the device goes: whether the program needs it on the host to go on at all.

A simulator that is told an action, a tokenizer that decodes tokens and the decision that ends a decoding loop need one
read a step. Such reads are inherent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.semantics import rounds
from torchlint.semantics.contexts import Context, Iterates, Scope, leaves
from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import within
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
_HOST_CODE: Final = frozenset(
    "PIL cv2 imageio json librosa onnxruntime pickle pycocotools scipy skimage sklearn soundfile".split()
)
# What NumPy writes to a file has to be on the host.
_WRITES: Final = frozenset("numpy.save numpy.savez numpy.savez_compressed numpy.savetxt".split())
_FAR: Final = 200  # expressions followed before the search is given up


def inherent(model: Model, read: cst.BaseExpression, context: Context) -> bool:
    """Whether the program cannot go on without the value that `read` brings to the host."""
    for home, around in _ends(model, read):
        if isinstance(around, cst.Call):
            if _wants_host_values(home, around):
                return True
        elif isinstance(around, (cst.If, cst.While)) and home is model and _ends_decoding(model, around, context):
            return True
    return False


def feeds_host_code(model: Model, read: cst.BaseExpression) -> bool:
    """Whether the value goes into code that works on the host alone: a solver, an image library, another runtime.

    What is not read, and gives something back for an array or a list of numbers, is taken for such code. The value is
    followed through all that it may be a part of: where it does go there, the copy is needed, else it is not.
    """
    for home, around in _ends(model, read, widely=True):
        if not isinstance(around, cst.Call):
            continue
        if _wants_host_values(home, around):
            return True
        callee = home.value(around.func)
        if isinstance(home.parent(around), cst.Expr) and callee.qual not in _WRITES:
            continue
        if (callee.qual or "").split(".", 1)[0] in _HOST_CODE or _runs_on_host(home, callee.fn):
            return True
        if callee.qual in _WRITES:
            return True
        site = home.call(around)
        if site is None:
            continue
        if callee.fn is not None and any(argument.value.kind is Kind.NDARRAY for argument in site.arguments):
            return True  # the program's own code for arrays
        if any(argument.name == "return_tensors" for argument in site.arguments):
            return True  # a tokenizer or processor
        if callee.kind is Kind.UNKNOWN and not _is_container(site.receiver):
            if any(_is_plain(argument.value) for argument in site.arguments):
                return True
    return False


def _is_plain(value: Value) -> bool:
    """Whether it is data that no device works on: an array, or numbers in lists."""
    while value.kind is Kind.CONTAINER and value.elem is not None:
        value = value.elem
        if value.kind is Kind.NUMBER:
            return True
    return value.kind is Kind.NDARRAY


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
    if isinstance(branch, cst.If) and not leaves(branch.body):
        return False
    for link in context.in_function():
        if link.scope is Scope.LOOP:
            assert link.loop is not None
            if isinstance(branch, cst.While) and link.loop.node is not branch:
                continue
            if rounds.iterates(link) is not Iterates.STEPS:
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
    return False


def _ends(model: Model, read: cst.BaseExpression, *, widely: bool = False) -> Iterator[tuple[Model, cst.CSTNode]]:
    """The calls and branches that the value of an expression enters, each with the model of its file.

    It is followed through names, containers and returns; `widely` also through what is made of it together with others:
    the rows of several that are iterated side by side, results that are unpacked, arrays computed from it.
    """
    todo: list[tuple[Model, cst.CSTNode]] = [(model, read)]
    seen: set[cst.CSTNode] = set()
    while todo and len(seen) < _FAR:
        home, node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        around = home.parent(node)
        further: list[cst.CSTNode] = []
        if isinstance(around, cst.Arg):
            call = home.parent(around)
            if isinstance(call, cst.Call):
                yield home, call
                if _passes(home, call, widely):
                    further.append(call)
                elif isinstance(call.func, cst.Attribute) and call.func.attr.value in ("append", "extend"):
                    if widely or not isinstance(node, (cst.Tuple, cst.Dict)):  # of a record, each part has its use
                        further += _readings(home, call.func.value)
        elif isinstance(around, cst.Attribute):
            call = home.parent(around)
            if isinstance(call, cst.Call) and call.func is around:
                further.append(call)
            elif around.attr.value in ("T", "mT", "data"):
                further.append(around)
        elif isinstance(around, (cst.If, cst.While)):
            yield home, around
        elif isinstance(around, (cst.Assign, cst.AnnAssign, cst.NamedExpr)):
            further += _readings(home, node)
            if isinstance(around, cst.NamedExpr):
                further.append(around)
            if widely and isinstance(around, cst.Assign):
                further += _names_read(home, around, [target.target for target in around.targets])
        elif isinstance(around, (cst.For, cst.CompFor)) and around.iter is node:
            further += _readings(home, node)
            further += _elements_read(home, around, widely)
        elif isinstance(around, cst.Return):
            todo += _callers(home, around)
        elif isinstance(
            around, (cst.BaseExpression, cst.BaseElement, cst.Index, cst.SubscriptElement, cst.ComparisonTarget)
        ):
            further.append(around)
        todo += [(home, found) for found in further]


def _elements_read(model: Model, loop: cst.For | cst.CompFor, widely: bool) -> list[cst.CSTNode]:
    """Where the element of a loop or comprehension is read within it."""
    if not isinstance(loop.target, cst.Name) and not widely:
        return []
    inside = loop.body if isinstance(loop, cst.For) else model.parent(loop)
    assert inside is not None
    return _named_within(inside, [loop.target])


def _names_read(
    model: Model, statement: cst.Assign, targets: list[cst.BaseAssignTargetExpression]
) -> list[cst.CSTNode]:
    """Where what is unpacked is read in the same function."""
    if not any(isinstance(target, (cst.Tuple, cst.List)) for target in targets):
        return []
    function = model.function_around(statement)
    inside = function.node if function is not None else None
    return _named_within(inside.body, targets) if isinstance(inside, cst.FunctionDef) else []


def _named_within(inside: cst.CSTNode, targets: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    bound = {n for n in within(list(targets)) if isinstance(n, cst.Name)}
    names = {n.value for n in bound}
    return [n for n in within([inside]) if isinstance(n, cst.Name) and n.value in names and n not in bound]


def _passes(model: Model, call: cst.Call, widely: bool) -> bool:
    callee = model.resolve(call.func)
    return callee in _PASSES or (widely and callee is not None and callee.startswith("numpy."))


def _readings(model: Model, node: cst.CSTNode) -> list[cst.BaseExpression]:
    """Where a value that was given a name is read by that name."""
    return [use for origin in (*model.value(node).origins, node) for use in model.uses.get(origin, ())]


def _callers(model: Model, statement: cst.Return) -> list[tuple[Model, cst.CSTNode]]:
    function = model.function_around(statement)
    callers = function.callers if function is not None else []
    return [(model.home.get(caller.node, model), caller.node) for caller in callers]
