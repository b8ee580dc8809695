"""How often code runs that a condition guards."""

from __future__ import annotations

from collections import Counter

import libcst as cst

from torchlint.knowledge import names as known
from torchlint.knowledge.devices import ACCELERATORS
from torchlint.semantics.names import attribute_asked, dotted, identifier
from torchlint.semantics.nodes import within
from torchlint.semantics.reading.evidence import COUNTED
from torchlint.semantics.reading.narrowing import NarrowingReader, not_none, unnegated
from torchlint.semantics.targets import bound_names, changed_names, targets
from torchlint.semantics.values import Gate, Kind, Value

SWAPPED = (Gate.NONE, Gate.RARE)
_PLACES = frozenset(("cpu", "meta", *ACCELERATORS))
_COUNTER_NAMES = frozenset(
    """step global_step num_steps step_idx iteration iter it itr i k batch_idx batch_i batch_index n_iter num_iter
    epoch current_step cur_step update_step steps iters t idx counter count""".split()
)


# Flags that are up in the first round or the last.
_ENDS = frozenset(
    """first is_first first_step first_batch first_iter is_last last_step last_iter is_final finished
    finished_training""".split()
)
# Functions that say whether code is recorded rather than run.
_RECORDED = frozenset("is_tracing is_scripting is_in_onnx_export get_tracing_state".split())
_SET = ("1", "true", "True", "yes", "on")
_ENVIRONMENT = ("os.environ.get", "os.getenv")


class GateReader(NarrowingReader):
    """Tells how often the branches of tests run."""

    def gates_of_comparison(
        self, operator: str, left_node: cst.BaseExpression, left: Value, right: Value
    ) -> tuple[Gate, Gate] | None:
        if left.gates == SWAPPED:  # a remainder
            if operator == "==":
                return (Gate.RARE, Gate.NONE)
            if operator in ("!=", ">"):
                return SWAPPED
            # `frames % interval < frames_per_batch`: the batch that crosses the interval.
            return (Gate.RARE, Gate.NONE) if operator == "<" and right.kind is not Kind.CLOCK else None
        if isinstance(right.const, str) and self.is_device_type(left_node, left, right.const):
            # Where only another backend runs (mps, npu, meta), nothing waits for CUDA either.
            then, other = (Gate.NONE, Gate.HOST) if right.const == "cuda" else (Gate.HOST, Gate.NONE)
            return (then, other) if operator == "==" else (other, then) if operator == "!=" else None
        if operator == "==" and right.const in _SET and _is_unset(left, right.const):
            return (Gate.DEBUG, Gate.NONE)
        if (  # `i + 1 == len(loader)`
            type(left_node) is cst.BinaryOperation
            and isinstance(left_node.operator, (cst.Add, cst.Subtract))
            and type(left_node.right) is cst.Integer
        ):
            left_node = left_node.left
            left = self.eval_quietly(left_node)
        name = dotted(left_node)
        counter = left.qual == "index" or (
            name is not None and name.rsplit(".", 1)[-1] in _COUNTER_NAMES and left.kind in (Kind.NUMBER, Kind.UNKNOWN)
        )
        counts = left.qual == "counted" or (
            name is not None and left.kind in (Kind.NUMBER, Kind.UNKNOWN) and self.has_evidence(name, COUNTED)
        )
        if (counter or (counts and operator in ("==", "!="))) and right.kind in (Kind.NUMBER, Kind.UNKNOWN):
            if operator == "==":
                return (Gate.RARE, Gate.NONE)
            if operator == "!=":
                return SWAPPED
            small = isinstance(right.const, (int, float)) and right.const <= 10
            if operator in ("<", "<=") and small:
                return (Gate.RARE, Gate.NONE)
            if operator in (">", ">=") and small:
                return None
        return None

    def is_device_type(self, node: cst.BaseExpression, value: Value, name: str) -> bool:
        """Whether what is compared with a name is the type of a device: `x.device.type`, `place.type` with "cuda"."""
        asked = type(node) is cst.Attribute and node.attr.value == "type" and name in _PLACES
        return asked or value.qual == "device type"

    def gates_of(self, node: cst.If, value: Value) -> tuple[Gate, Gate]:
        """How often the two branches of an `if` run, as far as its test tells."""
        gates = self.gates_of_test(node.test, value)
        if gates != (Gate.NONE, Gate.NONE):
            return gates
        test, flipped = unnegated(node.test)
        return (self._gate_of_cache(node, test, flipped), self._gate_of_kept(node, test, flipped))

    def gates_of_test(self, test: cst.BaseExpression, value: Value) -> tuple[Gate, Gate]:
        """How often code runs where a test holds and where it fails, as far as the test alone tells."""
        if value.gates is not None and value.gates != (Gate.NONE, Gate.NONE):
            return value.gates
        test, flipped = unnegated(test)
        gate = self._gate_of_flag(test)
        return (Gate.NONE, gate) if flipped else (gate, Gate.NONE)

    def _gate_of_flag(self, test: cst.BaseExpression) -> Gate:
        if type(test) is cst.BooleanOperation:
            gates = [self.gates_of_test(part, self.eval_quietly(part))[0] for part in (test.left, test.right)]
            if type(test.operator) is cst.Or:
                return _both(*gates)
            return _either(*gates)
        if type(test) is cst.Call:
            return Gate.DEBUG if _called(test) in _RECORDED or _called(test) == "isEnabledFor" else Gate.NONE
        given = not_none(test)
        if given is not None:  # `debug_percentile is not None`: who debugs gives it
            last = (dotted(given) or "").rsplit(".", 1)[-1].lower()
            return Gate.DEBUG if any(word in last for word in known.DEBUG_WORDS) else Gate.NONE
        name = dotted(test)
        if name is None and type(test) is cst.Subscript:
            key = self.literal_key(test)
            name = key if isinstance(key, str) else None
        if name is None:
            return Gate.NONE
        last = name.rsplit(".", 1)[-1].lower()
        if name == "__debug__" or any(word in last for word in known.DEBUG_WORDS):
            return Gate.DEBUG
        if last in _ENDS:
            return Gate.RARE
        return Gate.DEBUG if self._is_switched_off(test, name) else Gate.NONE

    def _is_switched_off(self, test: cst.BaseExpression, name: str) -> bool:
        """Whether a test asks a switch of a class or the module that is off where it is declared."""
        if type(test) is cst.Attribute:
            owner = self.eval_quietly(test.value)
            if owner.kind is not Kind.CLASS or owner.cls is None or owner.ident is not None:
                return False
            declared = owner.cls.class_attributes.get(test.attr.value)
            return declared is not None and declared.const is False
        shared = type(test) is cst.Name and self._is_outer(name) and self.frame.info is not self.model.root
        return shared and self.eval_quietly(test).const is False

    def _gate_of_cache(self, node: cst.If, test: cst.BaseExpression, flipped: bool) -> Gate:
        """`if self.x is None: self.x = ...`, `if key not in cache: cache[key] = ...`: once, then kept."""
        kept: cst.BaseExpression | None = None
        if type(test) is cst.Comparison and len(test.comparisons) == 1:
            operator = test.comparisons[0].operator
            right = test.comparisons[0].comparator
            if type(right) is cst.Name and right.value == "None" and isinstance(operator, (cst.Is, cst.Equal)):
                kept = None if flipped else self._looked_up_in(test.left)
            elif type(operator) is cst.NotIn and not flipped or type(operator) is cst.In and flipped:
                kept = right
            elif type(operator) is cst.NotEqual:  # `x.size(0) != self.size`, and then `self.size = x.size(0)`
                kept = next(filter(self._is_kept, (test.left, right)), None)
            elif type(operator) is cst.LessThan or type(operator) is cst.GreaterThan:
                kept = next(filter(self._is_kept, map(_weighed, (test.left, right))), None)
            elif type(operator) is cst.LessThanEqual or type(operator) is cst.GreaterThanEqual:
                kept = _weighed(test.left if type(operator) is cst.LessThanEqual else right)  # which is too short
            since = test.left
            if type(since) is cst.BinaryOperation and type(since.operator) is cst.Subtract and not flipped:
                last = dotted(since.right)  # `step - saved_at >= interval`, and then `saved_at = step`
                if last is not None and _assigns(node.body, last):
                    return Gate.RARE
        elif type(test) is cst.Call and type(test.func) is cst.Name:
            if test.func.value == "hasattr" and flipped:
                kept = test
            elif test.func.value == "isinstance" and not flipped and test.args:
                kept = test.args[0].value  # `if isinstance(self.image, Tensor): self.image = self.image.numpy()`
                if type(kept) is not cst.Attribute:
                    return Gate.NONE
        elif type(test) is cst.Name:  # `state = self.state[p]`, then `if not state: state["step"] = 0`
            entry = identifier(test.value)
            held = flipped and any(self.once(_entry_of_object, part, entry) for part in self.frame.info.body_nodes)
            if held and self.once(_assigns, node.body, entry):
                return Gate.RARE
            # `if not shown: ...; shown = True`, `if fresh: ...; fresh = False`
            turned = (entry, "True" if flipped else "False") in self.once(_set_in, node.body)
            if not turned or not _must_hold(test, node.test):
                return Gate.NONE
            return Gate.RARE if self._outlives_rounds(entry, node) else Gate.NONE
        elif type(test) is cst.Attribute:
            if not flipped:  # `if self.merged: self.unmerge()`
                return Gate.RARE if any(self._empties(node.body, name) for name in self._held_in(test)) else Gate.NONE
            kept = test  # `if not self.ready: ...; self.ready = True`
        elif type(test) is cst.BooleanOperation:
            for part in (test.left, test.right):
                asked, negated = unnegated(part)
                if self._gate_of_cache(node, asked, flipped != negated) is not Gate.NONE:
                    return Gate.RARE
            return Gate.NONE
        name = attribute_asked(kept) or dotted(kept) if kept is not None else None
        if kept is None or name is None:
            return Gate.NONE
        if not self._is_kept(kept) and not (_must_hold(test, node.test) and self._outlives_rounds(name, node)):
            return Gate.NONE
        if any(self.once(_assigns, body, name) for body in (node.body, *self._run_in(node.body))):
            return Gate.RARE
        raised = kept is test and any((name, "True") in self.once(_set_in, p) for p in self.frame.info.body_nodes)
        return Gate.RARE if raised else Gate.NONE

    def _is_kept(self, node: cst.BaseExpression) -> bool:
        """Whether what an expression names, or asks for, outlives a call: an attribute, or a name from outside."""
        name = attribute_asked(node) or dotted(node)
        return name is not None and ("." in name or self._is_outer(name))

    def _outlives_rounds(self, name: str, node: cst.If) -> bool:
        """Whether what a branch makes of a name stays for all rounds of the loops around, none of which binds it."""
        loops = self.context.enclosing_loops()
        return bool(loops) and (
            self.once(_bound_in, loops[-1].node)[name] == self.once(_bound_in, node.body)[name]
            and self.lookup(name) is not None
        )

    def _held_in(self, test: cst.Attribute) -> list[str]:
        """The attributes that tell the truth of one: itself, or those that its property looks at."""
        name = dotted(test)
        owner = self.eval_quietly(test.value).cls if name is not None else None
        method = owner.find_method(test.attr.value) if owner is not None else None
        if name is None or method is None or method.method != "property":
            return [name] if name is not None else []
        own = method.parameters[0].name + "." if method.parameters else "."
        asked = (dotted(part) for part in within(method.body_nodes) if type(part) is cst.Attribute)
        prefix = name.rsplit(".", 1)[0]
        return [f"{prefix}.{part[len(own) :]}" for part in asked if part is not None and part.startswith(own)]

    def _run_in(self, body: cst.BaseSuite) -> list[cst.BaseSuite]:
        """The bodies of the methods of the same object that the statements of a block call."""
        cls = self.frame.info.cls
        calls = [
            small.value.func
            for statement in body.body
            for small in (statement.body if type(statement) is cst.SimpleStatementLine else ())
            if type(small) is cst.Expr and type(small.value) is cst.Call
        ]
        methods = [
            cls.find_method(call.attr.value)
            for call in calls
            if cls is not None and type(call) is cst.Attribute and dotted(call.value) == "self"
        ]
        bodies = [method.node.body for method in methods if method is not None]
        return [body for body in bodies if isinstance(body, cst.BaseSuite)]

    def _empties(self, body: cst.BaseSuite, name: str) -> bool:
        """Whether a block, or a method that it calls, makes an attribute false that was true."""
        for part in (body, *self._run_in(body)):
            if not self.once(_set_in, part).isdisjoint([(name, "False"), (name, "None")]):
                return True
            if name in self.once(_taken_from_in, part):
                return True
        return False

    def _gate_of_kept(self, node: cst.If, test: cst.BaseExpression, flipped: bool) -> Gate:
        """`if key in cache: return cache[key]`, `if kept is not None: return kept`: what follows runs once."""
        function = self.frame.info.node
        last = node.body.body[-1]
        if flipped or type(function) is not cst.FunctionDef or type(last) is not cst.SimpleStatementLine:
            return Gate.NONE
        if type(last.body[-1]) is cst.Continue:
            return Gate.RARE if self._waits_for_interval(test) else Gate.NONE
        if type(last.body[-1]) is not cst.Return:
            return Gate.NONE
        if type(test) is cst.Attribute:  # `if self.ready: return`, and `self.ready = True` below
            flag = dotted(test) or ""
            raised = (flag, "True") in self.once(_set_in, function.body) or self.once(_filled_in, function.body, flag)
            return Gate.RARE if raised else Gate.NONE
        if type(test) is cst.BooleanOperation and type(test.operator) is cst.And:
            # `if self.table is not None and n <= self.table.shape[0]: return`
            kept_name = dotted(not_none(test.left) or test.right)
            if kept_name is None or kept_name not in self.once(_names_asked, test.right):
                return Gate.NONE
            test = test.left
        if type(test) is not cst.Comparison:
            return Gate.NONE
        comparison = test.comparisons[0]
        kept: cst.BaseExpression | None = None
        if type(comparison.operator) is cst.In:
            kept = comparison.comparator
        elif type(comparison.operator) is cst.IsNot:
            kept = self._looked_up_in(test.left)
        name = dotted(kept) if kept is not None else None
        if name is None or ("." not in name and not self._is_outer(name)):
            return Gate.NONE
        return Gate.RARE if self.once(_assigns, function.body, name) else Gate.NONE

    def _waits_for_interval(self, test: cst.BaseExpression) -> bool:
        """`if seen < last + interval: continue`, and then `last = seen`: what follows runs once an interval."""
        parts = [test]
        while parts and type(parts[-1]) is cst.BooleanOperation and type(parts[-1].operator) is cst.And:
            both = parts.pop()
            assert isinstance(both, cst.BooleanOperation)
            parts += [both.left, both.right]
        loop = next(iter(self.context.enclosing_loops()), None)
        body = loop.node.body if loop is not None and isinstance(loop.node, (cst.For, cst.While)) else None
        for part in parts if body is not None else ():
            if type(part) is not cst.Comparison or len(part.comparisons) != 1:
                continue
            bound = part.comparisons[0].comparator
            if isinstance(part.comparisons[0].operator, (cst.LessThan, cst.LessThanEqual)) and (
                type(bound) is cst.BinaryOperation and type(bound.operator) is cst.Add
            ):
                if (dotted(bound.left), dotted(part.left)) in self.once(_set_in, body):
                    return True
        return False

    def _looked_up_in(self, kept: cst.BaseExpression) -> cst.BaseExpression:
        """The mapping that a value was taken from by `get`; else the value itself."""
        origin = self.eval_quietly(kept).origin
        if type(origin) is cst.Call and type(origin.func) is cst.Attribute and origin.func.attr.value == "get":
            return origin.func.value
        return kept

    def _is_outer(self, name: str) -> bool:
        return name in self.frame.nonlocals or name not in self.frame.env


def asks_for_recording(test: cst.BaseExpression) -> bool:
    """Whether a test holds only where code is recorded, for TorchScript or ONNX: what runs takes the other branch."""
    if type(test) is cst.BooleanOperation:
        parts = [asks_for_recording(test.left), asks_for_recording(test.right)]
        return all(parts) if type(test.operator) is cst.Or else any(parts)
    return type(test) is cst.Call and _called(test) in _RECORDED


def _called(call: cst.Call) -> str:
    """The last part of the name of what is called, without the underscores of one's own form of it."""
    return (dotted(call.func) or "").rsplit(".", 1)[-1].lstrip("_")


def crosses_interval(left: cst.BaseExpression, right: cst.BaseExpression) -> bool:
    """Whether both sides are counted in intervals of one length: `before // n < after // n`."""
    sides = (left, right)
    if not all(type(side) is cst.BinaryOperation and type(side.operator) is cst.FloorDivide for side in sides):
        return False
    lengths = {dotted(side.right) for side in sides if type(side) is cst.BinaryOperation}
    return len(lengths) == 1 and None not in lengths


def _weighed(node: cst.BaseExpression) -> cst.BaseExpression:
    """What a comparison weighs: `x` in `x.shape[0]`, `x.size(0)`, `len(x)`, `x.item()`; others themselves."""
    if type(node) is cst.Subscript and type(node.value) is cst.Attribute and node.value.attr.value == "shape":
        return node.value.value
    if type(node) is cst.Call and type(node.func) is cst.Attribute and node.func.attr.value in ("size", "item"):
        return node.func.value
    if type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "len" and len(node.args) == 1:
        return node.args[0].value
    return node


def combine(how: str, a: tuple[Gate, Gate] | None, b: tuple[Gate, Gate] | None) -> tuple[Gate, Gate] | None:
    """The gates of `a and b`, or of `a or b`."""
    if a is None and b is None:
        return None
    a, b = a or (Gate.NONE, Gate.NONE), b or (Gate.NONE, Gate.NONE)
    if how == "and":
        return _either(a[0], b[0]), _both(a[1], b[1])
    return _both(a[0], b[0]), _either(a[1], b[1])


def _either(a: Gate, b: Gate) -> Gate:
    return a if a is not Gate.NONE else b


def _both(a: Gate, b: Gate) -> Gate:
    return a if b is not Gate.NONE else Gate.NONE


def _assigns(body: cst.BaseSuite, name: str) -> bool:
    """Whether a block assigns the name, an attribute of that name, or an entry of it."""
    statements = body.body
    for statement in statements:
        if type(statement) is cst.SimpleStatementLine:
            for small in statement.body:
                if type(small) is cst.Expr and type(small.value) is cst.Call and _puts_into(small.value, name):
                    return True
                for target in targets(small):
                    if any(found == name or found.startswith(name + ".") for found in changed_names(target)):
                        return True
        elif isinstance(statement, (cst.If, cst.With, cst.For)) and _assigns(statement.body, name):
            return True
    return False


def _entry_of_object(body: cst.CSTNode, name: str) -> bool:
    """Whether a body binds the name to an entry of what an object holds: `state = self.state[p]`."""
    return any(
        type(part) is cst.Assign
        and type(part.value) is cst.Subscript
        and (dotted(part.value.value) or "").startswith("self.")
        and any(type(t.target) is cst.Name and identifier(t.target.value) == name for t in part.targets)
        for part in within([body])
    )


def _puts_into(call: cst.Call, name: str) -> bool:
    """Whether a call gives a name something to keep: `cache.update(...)`, `self.register_buffer("mask", ...)`."""
    function = call.func
    if type(function) is not cst.Attribute:
        return False
    holder = dotted(function.value)
    if function.attr.value == "register_buffer":
        buffer = call.args[0].value if call.args else None
        return type(buffer) is not cst.SimpleString or name.rsplit(".", 1)[-1] == buffer.raw_value
    return (
        function.attr.value in ("setdefault", "add", "update")
        and holder is not None
        and (holder == name or holder.startswith(name + "."))
    )


def _set_in(body: cst.CSTNode) -> frozenset[tuple[str | None, str]]:
    """The names that code gives other names or constants, with these."""
    return frozenset(
        (dotted(target.target), part.value.value)
        for part in within([body])
        if type(part) is cst.Assign and type(part.value) is cst.Name
        for target in part.targets
    )


def _must_hold(part: cst.BaseExpression, whole: cst.BaseExpression) -> bool:
    """Whether a condition holds only where that part of it does, or its negation: not of `best is None or x < best`."""
    whole = unnegated(whole)[0]
    if type(whole) is cst.BooleanOperation and type(whole.operator) is cst.And:
        return _must_hold(part, whole.left) or _must_hold(part, whole.right)
    return whole is part


def _bound_in(body: cst.CSTNode) -> Counter[str]:
    """How often code binds each name."""
    return Counter(name for part in within([body]) for target in targets(part) for name in bound_names(target))


def _filled_in(body: cst.CSTNode, name: str) -> bool:
    """Whether code fills a tensor of a name: `self.ready.fill_(True)`, `self.ready.data.copy_(...)`."""
    return any(
        type(part) is cst.Call
        and type(part.func) is cst.Attribute
        and part.func.attr.value in ("copy_", "fill_")
        and (dotted(part.func.value) or "").removesuffix(".data") == name
        for part in within([body])
    )


def _names_asked(node: cst.CSTNode) -> frozenset[str | None]:
    """The names, and what holds them, in an expression."""
    return frozenset(dotted(part) for part in within([node]) if isinstance(part, (cst.Name, cst.Attribute)))


def _taken_from_in(body: cst.CSTNode) -> frozenset[str | None]:
    """The names of the containers out of which code takes entries."""
    return frozenset(
        dotted(part.func.value)
        for part in within([body])
        if type(part) is cst.Call
        and type(part.func) is cst.Attribute
        and part.func.attr.value in ("pop", "popitem", "popleft", "clear")
    )


def _is_unset(value: Value, wanted: str) -> bool:
    """Whether it is a switch in the environment that is off unless someone sets it so."""
    asked = value.origin if value.qual in _ENVIRONMENT else None
    if not isinstance(asked, cst.Call):
        return False
    default = asked.args[1].value if len(asked.args) > 1 else None
    return default is None or (isinstance(default, cst.SimpleString) and default.raw_value != wanted)
