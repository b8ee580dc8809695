"""TL207: Python data is made a device tensor on every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.knowledge import names as known
from torchlint.knowledge.devices import PLACING
from torchlint.rules._bodies import CHANGES, names_written
from torchlint.rules._patterns import consumers
from torchlint.rules._wording import because, often, quote
from torchlint.rules.base import FixAvailability, Report, Rule
from torchlint.rules.launch import _repairs
from torchlint.rules.pipeline._transfers import moved_by
from torchlint.semantics import sites, surroundings
from torchlint.semantics.contexts import Context, Iterates, Scope
from torchlint.semantics.functions import Role
from torchlint.semantics.hotness import Hot
from torchlint.semantics.model import Model
from torchlint.semantics.names import dotted, names_read
from torchlint.semantics.nodes import within
from torchlint.semantics.targets import changed_names
from torchlint.semantics.values import DEVICE, HOST, Kind, Value

_MAKERS: Final = ("torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor")
_TYPED: Final = ("torch.Tensor", *known.TENSOR_CLASSES)
_ARITHMETIC: Final = frozenset("add sub mul div pow neg clamp maximum minimum where lerp".split())
_OF_MATH: Final = frozenset("sqrt rsqrt exp log".split())  # which `math` has for numbers
_FORMS: Final = frozenset("list tuple sorted range len zip enumerate reversed float int abs min max round".split())
_MEMBERS: Final = frozenset("keys values items copy".split())


class TensorFromPythonInHotPath(Rule):
    code = "TL207"
    name = "tensor-from-python-in-hot-path"
    bottleneck = "launch"
    summary = "Python data is copied into a device tensor on every step"
    fix_availability = FixAvailability.SOMETIMES
    calls = (*_MAKERS, ".new_tensor", *(f".{name}" for name in PLACING))
    words = ("tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor", "Tensor", "FloatTensor", "LongTensor")

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        made = _made_on_device(site, model)
        if made is None or surroundings.in_test(site.context) or surroundings.in_worker(site.context):
            return
        data, confidence = made
        hot = model.hot(site.context)
        if hot is None:
            return
        passed = _is_passed_number(data, site, model)
        number = passed or _is_number(data)
        if not number and not _is_python_data(data):
            return
        sums = number and _starts_sum(model, site)
        roots = number and _computes(model, site.node, _OF_MATH)
        computes = number and (sums or roots or _computes(model, site.node, _ARITHMETIC))
        filled = _is_filled(data)
        if not computes and not passed and not filled:
            new = _is_new(data.node, site.context, hot, model)
            rows = hot.rate in (Iterates.ELEMENTS, Iterates.OTHER)  # one copy for all of them would do
            if new and not rows and not number and not _is_of_sizes(data.value):
                return
            if new or _is_hoisted(site, model):
                confidence = Confidence.POSSIBLE
        if number and not sums and (not computes or _stands_in(model, site)):
            confidence = Confidence.POSSIBLE  # a tensor may be wanted: it is returned, or given to something
        yield Report(
            site.node,
            f"{quote(site.node)} copies Python data to the device {often(hot)}, and the host waits for the copy",
            "fill it there: `torch.full`"
            if filled
            else "compute with the number itself: a Python number rides along with the kernel"
            if number
            else "make the tensor once and keep it: a buffer of the module, or before the loop",
            confidence,
            because(hot),
            _repairs.plain_number(model, site, data) if computes and not sums and not roots else None,
        )


def _made_on_device(site: sites.Call, model: Model) -> tuple[sites.Argument, Confidence] | None:
    """The Python data that a call brings to a device, and how sure it is that it is one."""
    maker = site
    if site.method in PLACING and site.callee not in _MAKERS:
        if site.receiver_node is None:
            return None
        inner = model.call(_behind_views(site.receiver_node, model)) or _made_before(site, model)
        if inner is None or inner.callee not in (*_MAKERS, *_TYPED) or inner.argument(None, "device") is not None:
            return None
        maker = inner
    elif site.method == "new_tensor":
        if site.receiver is None or not (site.receiver.is_tensor or site.receiver.kind is Kind.UNKNOWN):
            return None
    result = site.result
    if maker is site and site.method != "new_tensor" and site.argument(None, "device") is None:
        mover = _mover_of(site, model)
        if mover is None:
            return None
        result = mover.result
    data = maker.argument(0, "data")
    if data is None or result.device == HOST or not result.is_tensor:
        return None
    if result.device & DEVICE:
        return data, Confidence.SURE if result.device == DEVICE else Confidence.LIKELY
    hot = model.hot(site.context)
    return data, Confidence.LIKELY if model.accelerated or (hot is not None and hot.interface) else Confidence.POSSIBLE


def _behind_views(node: cst.BaseExpression, model: Model) -> cst.BaseExpression:
    """What is looked at in another shape: `torch.tensor(1.0)` of `torch.tensor(1.0).expand_as(x)`."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        site = model.call(node)
        if site is None or site.method not in known.VIEWS:
            break
        node = node.func.value
    return node


def _made_before(site: sites.Call, model: Model) -> sites.Call | None:
    """The call that made what is moved by a name, in the same run: `ids = torch.tensor(rows)`, `ids = ids.to(d)`."""
    origin = site.receiver.origin if site.receiver is not None and isinstance(site.receiver_node, cst.Name) else None
    made = model.call(origin) if origin is not None else None
    return made if made is not None and made.context is site.context else None


def _mover_of(site: sites.Call, model: Model) -> sites.Call | None:
    """The call of a function of the program that is given the tensor, and moves it."""
    argument = model.parent(site.node)
    outer = model.call(model.parent(argument) or argument) if isinstance(argument, cst.Arg) else None
    if outer is None or outer.target is None:
        return None
    return outer if any(moved.node is site.node for moved in moved_by(outer, model)) else None


def _is_number(data: sites.Argument) -> bool:
    """Whether it is a Python number, or arithmetic that gives one: a tensor is not made of a tensor."""
    if data.value.kind is Kind.NUMBER or _is_one_number(data.value):
        return True
    unsure = data.value.kind is Kind.UNKNOWN or (
        data.value.kind is Kind.TENSOR and data.value.conf is Confidence.POSSIBLE
    )
    arithmetic = (cst.BinaryOperation, cst.UnaryOperation)
    return unsure and (isinstance(data.node, arithmetic) or isinstance(data.value.origin, arithmetic))


def _is_one_number(value: Value) -> bool:
    """`[n]`: a list of one number."""
    items = value.items if value.kind is Kind.CONTAINER and value.qual in ("list", "tuple") else None
    return items is not None and len(items) == 1 and all(item.kind is Kind.NUMBER for item in items.values())


def _is_passed_number(data: sites.Argument, site: sites.Call, model: Model) -> bool:
    """Whether it is a parameter for which every caller passes a number."""
    owner = model.function_of(site.context)
    if data.value.kind is not Kind.UNKNOWN or not isinstance(data.node, cst.Name) or not owner.callers:
        return False
    calls = [model.call(caller.node) for caller in owner.callers]
    passed = [call.argument_for(owner, data.node.value) for call in calls if call is not None]
    return all(argument is not None and _is_number(argument) for argument in passed)


def _is_python_data(data: sites.Argument) -> bool:
    """Whether it is a list or tuple of numbers, or of such lists; or something that is not known to be a tensor."""
    value = data.value
    if value.kind in (Kind.UNKNOWN, Kind.BATCH):  # a tensor is not made of a tensor
        return isinstance(data.node, (cst.Name, cst.Attribute)) or _is_option(data.node)
    if isinstance(data.node, (cst.List, cst.Tuple)) and not data.node.elements:
        return False
    return _is_numbers(value)


def _is_option(node: cst.BaseExpression) -> bool:
    """`self.defaults["max_norm"]`: an entry by a name that is written there."""
    return isinstance(node, cst.Subscript) and all(
        isinstance(part.slice, cst.Index) and isinstance(part.slice.value, cst.SimpleString) for part in node.slice
    )


def _is_numbers(value: Value) -> bool:
    if value.kind is not Kind.CONTAINER or value.qual not in ("list", "tuple"):
        return False
    held = [item for key, item in (value.items or {}).items() if isinstance(key, int)] or (
        [value.elem] if value.elem is not None else []
    )
    return all(item.kind in (Kind.NUMBER, Kind.UNKNOWN) or _is_numbers(item) for item in held)


def _is_of_sizes(value: Value) -> bool:
    """Whether it holds nothing but sizes of tensors: the host has them, and what needs them can have them from it."""
    if value.kind is Kind.CONTAINER:
        held = [*(value.items or {}).values()] or ([value.elem] if value.elem is not None else [])
        return bool(held) and all(map(_is_of_sizes, held))
    return value.kind is Kind.SHAPE or value.qual == "tensor size"


def _computes(model: Model, made: cst.CSTNode, names: frozenset[str]) -> bool:
    """Whether the tensor is used in arithmetic alone, where a number would do."""
    steps = list(consumers(model, made))
    return bool(steps) and all(step is not None and step.name in names for step in steps)


def _is_filled(data: sites.Argument) -> bool:
    """`[t] * n`, or `[t for _ in range(n)]`: one number, as often as asked for."""
    return _repeats(data.node, data.value)


def _repeats(node: cst.BaseExpression, value: Value) -> bool:
    held = value.elem
    if isinstance(node, cst.ListComp):
        counted = node.for_in
        return (
            held is not None
            and counted.inner_for_in is None
            and not counted.ifs
            and not any(isinstance(inner, cst.Call) for inner in within([node.elt]))
            and not names_read(node.elt) & changed_names(counted.target)
            and (held.kind is Kind.NUMBER or _repeats(node.elt, held))
        )
    if isinstance(node, (cst.List, cst.Tuple)) and len(node.elements) == 1:
        return held is not None and _repeats(node.elements[0].value, held)
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return False
    lists = [side for side in (node.left, node.right) if isinstance(side, (cst.List, cst.Tuple))]
    return len(lists) == 1 and len(lists[0].elements) == 1 and held is not None and held.kind is Kind.NUMBER


def _starts_sum(model: Model, site: sites.Call) -> bool:
    """Whether it is the start of a sum that a loop below adds to: a Python number would do, as would `torch.zeros`."""
    mover = _mover_of(site, model)
    assigned = model.parent(mover.node if mover is not None else site.node)
    if not isinstance(assigned, cst.Assign) or len(assigned.targets) != 1:
        return False
    name = assigned.targets[0].target
    around = set(_around(model, site.node))
    return isinstance(name, cst.Name) and any(
        isinstance(use, cst.Name)
        and use.value == name.value
        and isinstance(model.parent(use), cst.AugAssign)
        and any(isinstance(link, (cst.For, cst.While)) and link not in around for link in _around(model, use))
        for made in (site.node, mover.node if mover is not None else site.node)
        for use in model.uses.get(made, ())
    )


def _stands_in(model: Model, site: sites.Call) -> bool:
    """Whether it takes the place of a tensor that is computed otherwise: of an empty batch, or a loss left out."""
    if not any(link.scope is Scope.BRANCH for link in site.context.chain()):
        return False
    return isinstance(model.parent(site.node), cst.Return) or any(
        len(model.value(use).origins) > 1 for use in model.uses.get(site.node, ())
    )


def _is_new(node: cst.BaseExpression, context: Context, hot: Hot, model: Model) -> bool:
    """Whether the data is made anew on every step: not of literals, constants, and what was there before the steps."""
    if any(isinstance(inner, cst.Call) and not _tells_the_same(inner, model) for inner in within([node])):
        return True
    own = {name for part in within([node]) if isinstance(part, cst.CompFor) for name in changed_names(part.target)}
    read = names_read(node) - own - {n for part, n in _names(node) if _is_written_down(model.value(part), model)}
    if not read:
        return False
    owner = model.function_of(context)
    loop = next((link.node for link in context.enclosing_loops() if link.node is hot.loop), None)
    if loop is not None:
        varying = names_written(model, [loop])
    else:
        varying = {
            parameter.name
            for parameter in owner.parameters
            if parameter.name not in ("self", "cls") and (parameter.passed or parameter.default is None)
        }
        if not isinstance(owner.node, cst.Module):
            varying |= names_written(model, [owner.node.body])
    if owner.cls is not None:
        # What other methods than the constructor store changes while the program runs.
        for method in owner.cls.methods.values():
            if method.role is not Role.SETUP:
                varying |= {f"self.{name}" for cls, name, _ in method.attributes if cls is owner.cls}
    return bool(read & varying)


def _names(node: cst.BaseExpression) -> Iterator[tuple[cst.BaseExpression, str]]:
    """The names and chains of attributes below, each with its text."""
    for part in within([node]):
        name = dotted(part) if isinstance(part, (cst.Name, cst.Attribute)) else None
        if isinstance(part, (cst.Name, cst.Attribute)) and name is not None:
            yield part, name


def _is_written_down(value: Value, model: Model) -> bool:
    """Whether a list is what stands in the code: literals, or what a constructor made, that nothing changes."""
    return value.kind is Kind.CONTAINER and bool(value.origins) and all(_stays(made, model) for made in value.origins)


def _stays(made: cst.CSTNode, model: Model) -> bool:
    if not isinstance(made, (cst.List, cst.Tuple)) or made not in model.values:
        return False
    if any(isinstance(inner, (cst.Name, cst.Call)) for inner in within([made])):
        maker = model.function_around(made)
        if maker is not None and maker.role is not Role.SETUP:
            return False
    return not any(_changes(use, model) for use in model.uses.get(made, ()))


def _changes(use: cst.BaseExpression, model: Model) -> bool:
    """Whether a use writes into what it reads."""
    around = model.parent(use)
    if isinstance(around, cst.Attribute):
        return around.attr.value in CHANGES
    return isinstance(around, cst.AugAssign) or (
        isinstance(around, cst.Subscript)
        and isinstance(model.parent(around), (cst.AssignTarget, cst.AugAssign, cst.Del))
    )


def _tells_the_same(call: cst.Call, model: Model) -> bool:
    """Whether a call gives nothing but its arguments do: `list(self.bias.values())`, `range(n)`, `math.log(n)`."""
    site = model.call(call)
    callee = site.callee if site is not None else None
    if isinstance(call.func, cst.Attribute):
        return (call.func.attr.value in _MEMBERS and not call.args) or (callee or "").startswith("math.")
    return callee in _FORMS


def _is_hoisted(site: sites.Call, model: Model) -> bool:
    """Whether a loop below it in the same function is what reads it: it stands before the loop already."""
    readings = model.uses.get(site.node, ())
    if not readings:
        return False
    around = set(_around(model, site.node))
    return any(
        isinstance(link, (cst.For, cst.While)) and link not in around
        for reading in readings
        for link in _around(model, reading)
    )


def _around(model: Model, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes around a node, up to its function."""
    link = model.parent(node)
    while link is not None and not isinstance(link, cst.FunctionDef):
        yield link
        link = model.parent(link)
