"""What is evaluated: modules in evaluation mode or frozen, and results whose graph nobody needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.knowledge.devices import ASKED, MOVES
from torchlint.semantics import sites
from torchlint.semantics.asking import question
from torchlint.semantics.contexts import Context
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import bound_names
from torchlint.semantics.values import DETACHED, Kind, Value

# What reads numbers only: the graph behind them is not used any more.
_DROPS: Final = known.GRAPH_FREE | frozenset("item tolist numpy data detach grad_fn".split())
# What tells of a tensor without its numbers.
_NEUTRAL: Final = frozenset("shape device dtype ndim size dim numel".split()) | ASKED
# What passes the graph on: the question goes to its result. `sample` and the like stop it.
_PASSES: Final = frozenset(
    """softmax log_softmax sigmoid tanh exp log max min topk sort sum mean std var amax amin norm normalize squeeze
    unsqueeze view reshape flatten permute transpose float half double to cpu clamp mul div add sub cat stack
    interpolate gather index_select contiguous abs pow sqrt chunk split select matmul bmm cosine_similarity relu
    masked_fill expand t""".split()
) | frozenset(MOVES)
_READERS: Final = frozenset("float int bool print str repr len isinstance type".split())
_DEEPEST: Final = 12  # uses of uses of a result


class Modes:
    """Which modules the file puts into evaluation mode, and which it freezes; they go by their names in the text."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._order: dict[cst.CSTNode, int] = {call.node: at for at, call in enumerate(model.sites.calls)}
        self._switches: dict[FunctionInfo, list[tuple[str, bool | None, sites.Call]]] = {}
        self._frozen: set[str] = set()
        self._frozen_classes: set[ClassInfo] = set()
        self._wants: dict[FunctionInfo, list[Context]] = {}
        for call in model.sites.calls:
            if _asks_for_gradients(call):
                self._wants.setdefault(model.function_of(call.context), []).append(call.context)
            if call.method in ("eval", "train") and call.receiver_node is not None:
                name = dotted(_unwrapped(call.receiver_node))
                if name is not None:
                    self._switches.setdefault(model.function_of(call.context), []).append((name, _mode(call), call))
            elif call.method == "requires_grad_" and _is_false(call.argument(0, "requires_grad")):
                self._freeze(call.receiver_node, model.function_of(call.context))
        for assign in model.sites.assigns:
            target = assign.target
            if type(target) is cst.Attribute and target.attr.value == "requires_grad":
                function = model.function_of(assign.context)
                if assign.value.const is False:
                    self._freeze(target.value, function)
                else:
                    self._wants.setdefault(function, []).append(assign.context)
        self._freeze_arguments()

    def wants_gradients(self, function: FunctionInfo) -> list[Context]:
        """Where the function asks for gradients of something, other than by a backward."""
        return self._wants.get(function, [])

    # Frozen

    def is_frozen(self, name: str | None, cls: ClassInfo | None) -> bool:
        """Whether the file asks for no gradients of the module's parameters."""
        return cls in self._frozen_classes or (name is not None and name.rsplit(".", 1)[-1] in self._frozen)

    def _freeze(self, node: cst.BaseExpression | None, function: FunctionInfo) -> None:
        """Note what `node.requires_grad_(False)` freezes: a module, or the module over whose parameters a loop goes."""
        name = dotted(node) if node is not None else None
        if name is None:
            return
        for loop in self._model.sites.loops:
            if loop.context.owner is not function and function is not self._model.root or loop.iterable_node is None:
                continue
            if name.split(".", 1)[0] in bound_names(loop.target):
                source = _owner_of_parameters(loop.iterable_node)
                name = dotted(source) if source is not None else None
                break
        if name == "self" and function.cls is not None:
            self._frozen_classes.add(function.cls)
        elif name is not None:
            self._frozen.add(name.rsplit(".", 1)[-1])

    def _freeze_arguments(self) -> None:
        """A helper that freezes its parameter freezes what its callers pass."""
        for call in self._model.sites.calls:
            if call.target is None:
                continue
            for parameter in call.target.parameters:
                if parameter.name in self._frozen and parameter.name != "self":
                    given = call.argument_for(call.target, parameter.name)
                    name = dotted(given.node) if given is not None else None
                    if name is not None:
                        self._frozen.add(name.rsplit(".", 1)[-1])

    # Evaluation mode

    def switched_here(self, name: str, at: cst.CSTNode, function: FunctionInfo) -> sites.Call | None:
        """The call in the same function that has put the module into evaluation mode by the time `at` runs."""
        position = self._order.get(at)
        site = self._model.call(at)
        if position is None or site is None:
            return None
        last: sites.Call | None = None
        for switched, evaluates, call in self._switches.get(function, ()):
            if not _covers(switched, name) or self._order[call.node] > position:
                continue
            if evaluates and site.context.inside(call.context):
                last = call
            elif not evaluates:
                last = None
        return last

    def always_evaluated(self, name: str, function: FunctionInfo) -> cst.CSTNode | None:
        """What puts the module into evaluation mode where it is made, if nothing of that scope trains it."""
        head, _, rest = name.partition(".")
        if head == "self" and rest and function.cls is not None:
            return self._evaluated_attribute(rest.split(".", 1)[0], function.cls)
        for scope in function.outward():
            made = self._evaluated_name(head, scope)
            if made is not None or self._binds(head, scope):
                return made
        return self._evaluated_name(head, self._model.root)

    def _evaluated_attribute(self, attribute: str, cls: ClassInfo) -> cst.CSTNode | None:
        name = f"self.{attribute}"
        found: cst.CSTNode | None = None
        for method in cls.methods.values():
            for switched, evaluates, call in self._switches.get(method, ()):
                if not evaluates and (_covers(switched, name) or switched.startswith(name)):
                    return None
                if evaluates and switched == name and method.name in known.SETUP_METHODS:
                    found = call.node
        for node in cls.stores.get(attribute, ()):
            made = _made_evaluated(getattr(node, "value", None), self)
            if made is not None:
                found = made
        return found

    def _evaluated_name(self, name: str, scope: FunctionInfo) -> cst.CSTNode | None:
        if any(switched == name and not evaluates for switched, evaluates, _ in self._switches.get(scope, ())):
            return None
        for assign in self._model.sites.assigned(name):
            if self._model.function_of(assign.context) is scope:
                made = _made_evaluated(assign.value_node, self)
                if made is not None:
                    return made
        if scope is self._model.root:
            for switched, evaluates, call in self._switches.get(scope, ()):
                if switched == name and evaluates:
                    return call.node
        return None

    def _binds(self, name: str, scope: FunctionInfo) -> bool:
        return any(parameter.name == name for parameter in scope.parameters) or any(
            self._model.function_of(assign.context) is scope for assign in self._model.sites.assigned(name)
        )

    def returns_evaluated(self, node: cst.BaseExpression) -> bool:
        """Whether a call gives a module that the function of this file behind it has put into evaluation mode."""
        site = self._model.call(node)
        if site is None or site.target is None:
            return False
        switches = self._switches.get(site.target, ())
        given = [node for node, _, _ in site.target.return_sites if isinstance(node, cst.BaseExpression)]
        names = {dotted(_unwrapped(node)) for node in given}
        return any(_ends_in_eval(node) for node in given) or any(
            evaluates and name in names for name, evaluates, _ in switches
        )


def _asks_for_gradients(call: sites.Call) -> bool:
    if call.method in ("requires_grad_", "retain_grad"):
        return not any(argument.value.const is False for argument in call.arguments)
    if call.callee is not None and call.callee.startswith(("torch.func.", "torch.autograd.functional.")):
        return True
    return any(argument.name == "requires_grad" and argument.value.const is not False for argument in call.arguments)


def _made_evaluated(node: cst.BaseExpression | None, modes: Modes) -> cst.CSTNode | None:
    if node is None:
        return None
    return node if _ends_in_eval(node) or modes.returns_evaluated(node) else None


def _ends_in_eval(node: cst.CSTNode | None) -> bool:
    """Whether `.eval()` is one of the calls in a chain such as `Net().to(device).eval()`."""
    while type(node) is cst.Call and type(node.func) is cst.Attribute:
        if node.func.attr.value == "eval":
            return True
        node = node.func.value
    return False


def _unwrapped(node: cst.BaseExpression) -> cst.BaseExpression:
    """The module behind moves and wrappers' attributes: `model` in `model.to(device).eval()`."""
    while type(node) is cst.Call and type(node.func) is cst.Attribute:
        node = node.func.value
    return node


def _mode(call: sites.Call) -> bool | None:
    """Whether a switch turns evaluation mode on; None where that depends."""
    if call.method == "eval":
        return True
    mode = call.argument(0, "mode")
    if mode is None:
        return False
    return not mode.value.const if isinstance(mode.value.const, bool) else None


def _is_false(argument: sites.Argument | None) -> bool:
    return argument is not None and argument.value.const is False


def _covers(switched: str, name: str) -> bool:
    """Whether a mode set on one module reaches another: the same, or a part of it."""
    return name == switched or name.startswith(switched + ".")


def _owner_of_parameters(node: cst.BaseExpression) -> cst.BaseExpression | None:
    """`model` in `model.parameters()`, `list(model.named_parameters())`."""
    while type(node) is cst.Call:
        if type(node.func) is cst.Attribute and node.func.attr.value in ("parameters", "named_parameters"):
            return node.func.value
        if not node.args:
            return None
        node = node.args[0].value
    return None


def graph_is_dropped(node: cst.BaseExpression, model: Model) -> bool:
    """Whether all that is read of a call's result are numbers: no use keeps or needs the graph behind it."""
    answers = list(_reads(node, model, set(), 0))
    return bool(answers) and all(answers)


def has_no_parameters(value: Value, model: Model) -> bool:
    """Whether a module is known to hold nothing that wants gradients: a loss, an activation, a class without any."""
    if value.kind is Kind.UNKNOWN and len(value.origins) > 1:
        made = [model.values.get(node) for node in value.origins]
        return all(one is not None and one.kind is Kind.MODULE and has_no_parameters(one, model) for one in made)
    if value.kind is not Kind.MODULE:
        return False
    if value.cls is not None:
        return _holds_none(value.cls, model, frozenset())
    name = (value.qual or "").rsplit(".", 1)[-1]
    return (value.qual or "").startswith("torch.nn.") and (name.endswith("Loss") or name in known.PARAMETERLESS)


def _holds_none(cls: ClassInfo, model: Model, seen: frozenset[ClassInfo]) -> bool:
    if cls in seen or any(base.cls is None and base.qual != "torch.nn.Module" for base in cls.bases):
        return False
    for name, value in [(name, value) for name, stores in cls.stores.items() for value in stores.values()]:
        if value.kind is Kind.MODULE:
            inner = value.cls
            if not (_holds_none(inner, model, seen | {cls}) if inner is not None else has_no_parameters(value, model)):
                return False
        elif value.kind is Kind.UNKNOWN and not any(_calls(method, name) for method in cls.methods.values()):
            continue  # an option
        elif value.kind in (Kind.UNKNOWN, Kind.CONTAINER) or (value.kind is Kind.TENSOR and value.graph != DETACHED):
            return False
    return all(_holds_none(base.cls, model, seen | {cls}) for base in cls.bases if base.cls is not None)


def _calls(method: FunctionInfo, attribute: str) -> bool:
    """Whether a method calls what an attribute of its object holds."""
    return any(
        type(node) is cst.Call and dotted(node.func) == f"self.{attribute}" for node in within(method.body_nodes)
    )


def is_read_as_array(node: cst.BaseExpression, model: Model) -> bool:
    """Whether a call's result is turned into an array as it is, which raises where a graph hangs on it."""
    if not _uses_arrays(model):
        return False
    return any(_becomes_array(reading, model) for reading in (node, *model.uses.get(node, ())))


@question(False)
def _uses_arrays(model: Model) -> bool:
    return any(call.method == "numpy" for call in model.sites.calls)


def _becomes_array(reading: cst.CSTNode, model: Model) -> bool:
    """Whether `.numpy()` follows, behind nothing but moves."""
    around = model.parent(reading)
    while type(around) is cst.Attribute:
        call = model.parent(around)
        if type(call) is not cst.Call or call.func is not around:
            return False
        if around.attr.value == "numpy":
            return not any(argument.keyword is not None for argument in call.args)  # `force=True` detaches
        if around.attr.value not in ("cpu", "to", "squeeze", "float", "contiguous"):
            return False
        around = model.parent(call)
    return False


def _reads(node: cst.CSTNode, model: Model, seen: set[cst.CSTNode], depth: int) -> Iterator[bool]:
    """For each use of a value: whether it reads numbers only."""
    if node in seen or depth > _DEEPEST:
        yield depth <= _DEEPEST
        return
    seen.add(node)
    for reading in (node, *model.uses.get(node, ())):
        if reading is not node and reading in seen:
            continue
        yield from _use(reading, model, seen, depth)


def _use(reading: cst.CSTNode, model: Model, seen: set[cst.CSTNode], depth: int) -> Iterator[bool]:
    around = model.parent(reading)
    if type(around) is cst.Arg:
        call = model.parent(around)
        if type(call) is cst.Call:  # not the bases of a class
            yield from _passed(call, model, seen, depth)
        else:
            yield False
    elif type(around) is cst.Attribute and around.value is reading:
        name = around.attr.value
        call = model.parent(around)
        if name in _NEUTRAL:
            return
        if name in _DROPS:
            yield True
        elif type(call) is cst.Call and call.func is around:
            yield from _reads(call, model, seen, depth + 1) if name in _PASSES else (False,)
        else:
            yield from _reads(around, model, seen, depth + 1)
    elif isinstance(around, (cst.Assign, cst.AnnAssign)):
        targets = [target.target for target in around.targets] if isinstance(around, cst.Assign) else [around.target]
        if any(isinstance(target, (cst.Attribute, cst.Subscript)) for target in targets):
            yield False
    elif isinstance(around, (cst.Comparison, cst.ComparisonTarget, cst.FormattedStringExpression)):
        yield True
    elif isinstance(around, (cst.Subscript, cst.BinaryOperation, cst.UnaryOperation)):
        yield from _reads(around, model, seen, depth + 1)
    elif type(around) is cst.Return:
        callers = (model.function_around(around) or model.root).callers
        for caller in callers:
            yield from _reads(caller.node, model, seen, depth + 1)
        if not callers:
            yield False
    elif around is not None and type(around) is not cst.Del:
        yield False


def _passed(call: cst.Call, model: Model, seen: set[cst.CSTNode], depth: int) -> Iterator[bool]:
    qualified = model.resolve(call.func) or ""
    namespace, _, name = qualified.rpartition(".")
    if qualified in _READERS:
        yield True
    elif model.value(call.func).kind is Kind.MODULE:
        yield from _reads(call, model, seen, depth + 1)  # another layer
    elif type(call.func) is cst.Attribute and call.func.attr.value == "append":
        yield from _members_read(call.func.value, model, seen, depth)
    elif namespace in ("torch", "torch.nn.functional", "torch.special", "torch.linalg"):
        if name in _DROPS:
            yield True
        else:
            yield from _reads(call, model, seen, depth + 1) if name in _PASSES else (False,)
    else:
        yield False


def _members_read(kept: cst.BaseExpression, model: Model, seen: set[cst.CSTNode], depth: int) -> Iterator[bool]:
    """For each use of the list that something is appended to: whether it reads numbers only."""
    origin = model.value(kept).origin
    if origin is None or depth > _DEEPEST or type(kept) is not cst.Name:
        yield False
        return
    for reading in model.uses.get(origin, ()):
        around = model.parent(reading)
        if not (type(around) is cst.Attribute and around.attr.value == "append"):
            yield from _use(reading, model, seen, depth + 1)
