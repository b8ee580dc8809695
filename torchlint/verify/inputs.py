"""What to call a piece of code with: descriptions of its arguments.

From what the code does with each parameter (`uses.py`), from hints and annotations (`hints.py`), from defaults and the
literals with which the file makes its objects each gets a description that the worker can build (`standins.Builder`).
What the code does not tell, the size of a last dimension or the rank of a tensor, is left open, and the worker tries
values until the code accepts them (`search.py`). Nothing is guessed in silence: each description says where it comes
from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.verify.allowed import ATTRIBUTES, REFUSED_ATTRIBUTES
from torchlint.verify.extract import Unit
from torchlint.verify.hints import declared
from torchlint.verify.told import Told, refined
from torchlint.verify.trees import parse
from torchlint.verify.uses import CRITERIA, PASSING, TENSORS, Parameter, Use, Walk, last_name, parameters_of

__all__ = ["Needs", "descriptions", "needs", "sizes"]

# What the symbols of shapes stand for: batch, time, width, heads, channels, side of an image; steps of a loop; samples.
_SIZES: Mapping[str, Mapping[str, int]] = {
    "large": {"B": 256, "T": 2048, "D": 1024, "H": 16, "C": 3, "S": 224, "steps": 50, "N": 2048},
    "medium": {"B": 64, "T": 512, "D": 512, "H": 8, "C": 3, "S": 64, "steps": 30, "N": 512},
    "modest": {"B": 16, "T": 64, "D": 128, "H": 4, "C": 3, "S": 32, "steps": 10, "N": 128},
    "brief": {"B": 16, "T": 64, "D": 128, "H": 4, "C": 3, "S": 32, "steps": 5, "N": 40},
    "small": {"B": 4, "T": 6, "D": 16, "H": 2, "C": 3, "S": 12, "steps": 5, "N": 20},  # none equals another
}
CLASSES, VOCABULARY = 10, 1000
_MODULE = frozenset("parameters named_parameters train eval state_dict load_state_dict modules named_modules children "
                    "buffers named_buffers apply requires_grad_ register_forward_hook".split())  # fmt: skip
_WRITING = frozenset("add_scalar add_scalars add_histogram log_metrics".split())
_DISTRIBUTION = frozenset("log_prob rsample entropy cdf icdf".split())
_DISTRIBUTIONS = re.compile(r"(^|_)(d|p|q|pi|dist|distribution|prior|posterior|normal)$")
_OF_DISTRIBUTION = frozenset("sample mean mode stddev variance loc scale batch_shape event_shape".split())
_OPTIMIZER = frozenset("step zero_grad param_groups state add_param_group".split())
_SCALER = frozenset("unscale_ update".split())
_INTEGERS = re.compile(
    r"(^|_)(y|labels?|targets?|gold|ids?|idx|index|indices|tokens?|actions?|classes|input_ids|tgt|lens?|lengths?)$"
)
_TOKENS = re.compile(r"(^|_)(ids|tokens?|input_ids|prompt|words?|src|seq)$")
_MASKS = re.compile(r"(mask|valid|keep|usable|done)s?$")
_NUMBERS = re.compile(
    r"^(n|k|i|j|t|p|lr|eps|epsilon|alpha|beta\d?|gamma|tau|decay|momentum|scale|temperature|weight_decay|dropout|rate|"
    r"epochs?|steps?|iters?|iterations?|.*_(steps?|epochs?|iters?|every|interval|size|len|length|dim|rate|decay|eps)|"
    r"(num|max|min|n|log)_.*|seed|batch|samples|classes|vocab|ceiling|budget|window|width|every|interval|batch_size|width|dim|hidden|heads?|depth|layers?|repeats?|channels?)$"
)
_NETWORKS = re.compile(r"(net|model|encoder|decoder|policy|critic|actor|backbone|module|head|q\d?)$")
_VALUES = {  # what a number of that name is
    r"lr|.*_rate|weight_decay|decay": 0.01,
    r"eps|epsilon": 1e-5,
    r"alpha|beta\d?|gamma|momentum|tau|temperature|scale": 0.5,
    r"p|dropout": 0.0,
    r"epochs?|num_epochs|n_epochs|depth|layers?|num_layers|n_layers?": 2,
    r"heads?|num_heads|n_heads?": "H",
    r"num_classes|n_classes|classes|out_features": CLASSES,
    r"vocab.*|num_embeddings|n_vocab": VOCABULARY,
    r"batch_size|batch|b": "B",
    r"budget|window|n_micro": "steps",
    r"(n_|num_)?(samples|examples|items|points)": "N",
    r"seed": 0,
    r"ceiling|clip|max_norm": 1.0,
    r"max_len.*|seq_len.*|t|length|max_seq.*|block_size|context.*": "T",
    r"(in_)?channels?": "D",
    r".*(every|interval|freq)": 10,
    r".*dim|.*width|hidden.*|.*features|d_model|n_embd|embed.*|.*size": "D",
    r".*steps?|.*iters?|.*iterations?|repeats?|n|k": "steps",
}


@dataclass(slots=True)
class Needs:
    """How to call a unit.

    Attributes:
        arguments: a description for each parameter, in order.
        globals: the same for names of the module that only running it would give.
        widths: what the last dimension may be, in the order in which it is tried.
        stand_ins: what replaces something of the user's, one sentence each.
        attributes: names that stand-ins have.
    """

    arguments: list[dict[str, Any]] = field(default_factory=list)
    globals: dict[str, dict[str, Any]] = field(default_factory=dict)
    widths: list[Any] = field(default_factory=list)
    stand_ins: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)


def needs(
    unit: Unit,
    text: str,
    hinted: Mapping[str, Mapping[str, Any]],
    missing: Mapping[str, str] | None = None,
    *,
    compiled: bool = False,
    on_host: bool = False,
    pinned: bool = False,
    selecting: bool = False,
    hosted: bool = False,
    known: Mapping[tuple[str, str], Told] | None = None,
    around: str = "",
    foreign: Mapping[str, str] | None = None,
) -> Needs:
    """How to call the unit: descriptions from hints first, then from annotations, literals and the uses.

    Args:
        unit: to call.
        text: of its whole file, where objects of its classes are made.
        hinted: what `hints` found.
        missing: names whose modules were left out, with what they stood for.
        compiled: the receiver is compiled, as its file does it.
        on_host: what is moved lies on the host before, as it must where a transfer is measured.
        pinned: it lies in pinned memory there.
        selecting: what indexes is a mask, as far as the code takes one.
        hosted: what indexes lies on the host.
        known: what the semantic model tells of names, by function and name.
        around: the function that the unit is a part of, where it is no function itself.
        foreign: names that modules define which measured code must not use, with what they stand for.
    """
    walk = Walk(unit)
    walk.globals.update({name: Use(name) for name in foreign or ()})
    made = _Describe(hinted, walk, parse(text), compiled=compiled, known=known or {})
    made.pinned, made.selecting, made.hosted = pinned, selecting, hosted
    made.grads = ".grad" in unit.source and "backward(" not in unit.source
    parameters = parameters_of(unit.function)
    uses = {parameter.name: Use(parameter.name) for parameter in parameters}
    if unit.owner is not None and not _is_static(unit.function):
        this = uses[parameters[0].name] = Use("self")
        made.own(parameters[0].name, unit.owner, this, unit.function)
    walk.owner = unit.owner
    walk.function(unit.function, uses)
    for result, sides, equal in walk.compared:
        if result.marks & {"index", "sliced", "operand"} or result.read & TENSORS:
            for side in sides[:1]:
                side.marks.update({"elementwise", "label"} if equal and "index" in result.marks else {"elementwise"})
    if unit.owner is not None and not _is_static(unit.function):
        made.finish_own(unit.owner)
        parameters = parameters[1:]
    for parameter in parameters:
        described = made.value(parameter, uses[parameter.name], around or unit.entry)
        if on_host:
            described = made.placed(described, uses[parameter.name])
            if described["kind"] == "dict":
                described["items"] = {key: made.on_host(item) for key, item in described["items"].items()}
        made.result.arguments.append({"name": parameter.name, **described})
    for name, use in walk.globals.items():
        if name in (foreign or {}):
            full = (foreign or {})[name]
            if full.startswith("einops.") and full.rpartition(".")[2] in _EINOPS:
                made.result.globals[name] = {"kind": "einops", "of": full.rpartition(".")[2]}
                made.stands(name, f"{full}, written with torch")
                continue
            made.result.globals[name] = made.foreign(name, use)
            made.stands(name, f"a stand-in for {full}, which is not run")
        else:
            made.result.globals[name] = made.thing(name, use)
    for name, full in (missing or {}).items():
        made.result.globals[name] = {"kind": "inert", "of": full}
        made.stands(name, f"{full}, which is not used: a stand-in that takes what it is given and does nothing")
    if missing:
        made.result.attributes.update(n.attr for n in ast.walk(unit.tree) if isinstance(n, ast.Attribute))
    for use in (*uses.values(), *walk.globals.values()):
        made.result.attributes.update(use.reached())
    numbers = {n.value for n in ast.walk(unit.tree) if isinstance(n, ast.Constant) and type(n.value) is int}
    numbers |= made.literal_numbers
    made.result.widths = ["D", *sorted(n for n in numbers if 2 <= n <= 8192)[:6]]
    return made.result


_EINOPS = frozenset("rearrange repeat reduce Rearrange Reduce".split())


def _is_static(function: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in function.decorator_list)


class _Describe:
    """Turns uses into descriptions."""

    def __init__(
        self,
        hinted: Mapping[str, Mapping[str, Any]],
        walk: Walk,
        file: ast.Module,
        *,
        compiled: bool,
        known: Mapping[tuple[str, str], Told],
    ) -> None:
        self.hinted = hinted
        self.known = known
        self.walk = walk
        self.file = file
        self.compiled = compiled
        self.result = Needs()
        self.pinned = False  # whether what lies on the host is pinned
        self.selecting = False  # whether what indexes is tried as a mask first
        self.hosted = False  # whether what indexes lies on the host
        self.grads = False  # gradients are read that the code does not make
        self.built: dict[str, Use] = {}  # what the receiver's constructor takes
        self.making: list[str] = []  # classes whose objects are being described
        self.literal_numbers: set[int] = set()  # with which the file makes its objects

    # -- from the text

    def value(
        self,
        parameter: Parameter,
        use: Use,
        function: str,
        literals: Mapping[str, tuple[Any, int]] | None = None,
    ) -> dict[str, Any]:
        name, default = parameter.name, parameter.default
        if name in self.hinted:
            return dict(self.hinted[name])
        if literals and name in literals:
            value, row = literals[name]
            if type(value) is int:
                self.literal_numbers.add(value)
            if not (isinstance(value, str) and _is_device(name, use)):
                return {"kind": "number", "value": value, "origin": f"as in line {row}"}
        if default is not None:
            try:
                literal = ast.literal_eval(default)
            except (ValueError, SyntaxError):
                literal = ...
            if literal is not ... and not (isinstance(literal, str) and _is_device(name, use)):
                # None stands for "made inside"; a device is the one measured on, whatever the default says.
                return {"kind": "number", "value": literal, "origin": "its default"}
            if isinstance(default, ast.Call) and isinstance(default.func, ast.Name):
                if default.func.id in self.walk.classes:
                    return {**self.object_of(default.func.id, use), "origin": "its default"}
        annotated = self.annotated(name, parameter.annotation, use)
        described = annotated if annotated is not None else self.thing(name, use)
        return refined(described, self.known.get((function, name)))

    def annotated(self, name: str, node: ast.expr | None, use: Use) -> dict[str, Any] | None:
        """What an annotation says, None where it says too little."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(node, ast.BinOp):  # X | None
            node = node.left
        if node is None:
            return None
        said = declared(node)
        if said is not None:
            return {**said, "origin": "its annotation"}
        last = last_name(node)
        if last in self.walk.classes:
            return {**self.object_of(last, use), "origin": "its annotation"}
        if last in ("Module", "Sequential"):
            return {**self.network(name, use), "origin": "its annotation"}
        if last in ("Tensor", "FloatTensor", "LongTensor") and not use.items:
            return {**self.tensor(name, use), "origin": "its annotation, and how it is used"}
        if last == "Optimizer":
            self.stands(name, "SGD")
            return {"kind": "optimizer", "origin": "its annotation"}
        if last == "device":
            return {"kind": "device", "origin": "its annotation"}
        if last == "bool":
            return {"kind": "guess", "value": True, "others": [False], "origin": "its annotation"}
        if last in ("int", "float") and not use.read:
            return {**_number(name.lower()), "origin": "its annotation and name"}
        return None

    def literals(self, owner: ast.ClassDef, parameters: Sequence[Parameter]) -> dict[str, tuple[Any, int]]:
        """The literal arguments with which the file makes objects of a class, each with its row."""
        found: dict[str, tuple[Any, int]] = {}
        for call in ast.walk(self.file):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != owner.name:
                continue
            given = [(p.name, a) for p, a in zip(parameters, call.args, strict=False) if not isinstance(a, ast.Starred)]
            given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
            for name, node in given:
                try:
                    found.setdefault(name, (ast.literal_eval(node), call.lineno))
                except (ValueError, SyntaxError, RecursionError):
                    continue
        return found

    # -- objects of the file's own classes

    def own(self, name: str, owner: ast.ClassDef, this: Use, entry: ast.FunctionDef) -> None:
        """The receiver: what its constructor does, and what other methods do with what that was given."""
        walk, init = self.walk, self.walk.methods(owner).get("__init__")
        walk.owner = owner
        if init is not None:
            self.built = {parameter.name: Use(parameter.name) for parameter in parameters_of(init)[1:]}
            walk.function(init, {parameters_of(init)[0].name: this, **self.built})
        for other, method in walk.methods(owner).items():
            if other != "__init__" and method is not entry and parameters_of(method):
                walk.function(method, {parameters_of(method)[0].name: this})
        self.receiver = name

    def finish_own(self, owner: ast.ClassDef) -> None:
        made = self.construct(owner, self.built)
        if self.compiled:
            made["compiled"] = True
        self.result.arguments.append({"name": self.receiver, **made, "origin": f"made of class {owner.name}"})

    def construct(self, owner: ast.ClassDef, uses: Mapping[str, Use]) -> dict[str, Any]:
        init = self.walk.methods(owner).get("__init__")
        parameters = parameters_of(init)[1:] if init is not None else _fields(owner)
        if init is None and any(_OPTIMIZERS.search(last_name(base)) for base in owner.bases):
            return {"kind": "own", "path": owner.name, "kwargs": {"params": {"kind": "parameters"}, "lr": 0.01}}
        known = self.literals(owner, parameters)
        kwargs = {
            p.name: {"name": p.name, **self.value(p, uses.get(p.name, Use(p.name)), f"{owner.name}.__init__", known)}
            for p in parameters
        }
        return {"kind": "own", "path": owner.name, "kwargs": kwargs}

    def object_of(self, name: str, use: Use) -> dict[str, Any]:
        """Something that is an object of a class of the file."""
        if name in self.making:
            return {"kind": "number", "value": None}
        owner = self.walk.classes[name]
        init = self.walk.methods(owner).get("__init__")
        uses: dict[str, Use] = {}
        if init is not None and parameters_of(init):
            uses = {parameter.name: Use(parameter.name) for parameter in parameters_of(init)[1:]}
            before, self.walk.owner = self.walk.owner, owner
            self.walk.function(init, {parameters_of(init)[0].name: Use("self"), **uses})
            self.walk.owner = before
        self.making.append(name)
        try:
            return self.construct(owner, uses)
        finally:
            self.making.pop()

    def class_of(self, use: Use) -> str | None:
        """The one class of the file that has the methods which are called, if there is one."""
        called = {name for name, below in use.attributes.items() if "called" in below.marks} - TENSORS - PASSING
        fitting = [
            name for name, owner in self.walk.classes.items() if called and called <= set(self.walk.methods(owner))
        ]
        return fitting[0] if len(fitting) == 1 and fitting[0] not in self.making else None

    # -- from the uses

    def thing(self, name: str, use: Use) -> dict[str, Any]:
        if name in self.hinted:
            return dict(self.hinted[name])
        described = self._thing(name, use)
        described.setdefault("origin", "from how it is used")
        return described

    def _thing(self, name: str, use: Use) -> dict[str, Any]:
        read, low = use.read, name.lower()
        if _is_device(name, use):
            return {"kind": "device"}
        if "array" in use.marks:
            return {"kind": "array", "dtype": "open", "rank": use.rank}
        several = len(read & _DISTRIBUTION) > 1 or _DISTRIBUTIONS.search(low)
        if "distribution" in use.marks or (
            several and read & _DISTRIBUTION and not read - _DISTRIBUTION - _OF_DISTRIBUTION
        ):
            self.stands(name, "a normal distribution")
            return {"kind": "distribution"}
        if low in ("params", "parameters"):
            self.stands(name, "the parameters of a small network, with gradients")
            return {"kind": "parameters"}
        if low == "dtype":
            return {"kind": "dtype", "value": "float32"}
        if read & _WRITING:
            self.stands(name, "a writer that reads what it is given and keeps nothing")
            self.result.attributes.update(use.attributes)
            return {"kind": "inert", "of": "a writer"}
        if read & _SCALER and "scale" in read:
            self.stands(name, "a gradient scaler")
            return {"kind": "scaler"}
        if "step" in read and ("sched" in low or "last_epoch" in read or "get_last_lr" in read):
            self.stands(name, "a scheduler that changes nothing")
            return {"kind": "scheduler"}
        if read & _OPTIMIZER and not read & _MODULE and (read & {"step", "param_groups"} or "opt" in low):
            self.stands(name, "SGD")
            self.result.attributes.update(use.attributes)
            return {"kind": "optimizer"}
        if use.texts:
            first, *others = dict.fromkeys(use.texts)
            return {"kind": "guess", "value": first, "others": [*others, "another"]}
        if "sizes" in use.marks:
            return {"kind": "tuple", "items": [{"kind": "guess", "value": "B"}, {"kind": "guess", "value": "D"}]}
        if (
            read & (_MODULE - ({"requires_grad_"} if read & TENSORS else set()))
            or ("called" in use.marks and not CRITERIA.search(low))
            or "module" in use.marks
        ):
            return self.network(name, use)
        if "called" in use.marks:
            self.stands(name, "a criterion")
            return {"kind": "function", "gives": {"kind": "result", "of": "criterion"}}
        if "mapping" in use.marks and not use.items:
            return {"kind": "dict", "items": {"x": {"kind": "tensor", "dtype": "float"}}}
        if "append" in read and "called" in use.attributes["append"].marks and not use.items:
            element = use.element
            return {"kind": "list", "item": self.thing(name, element) if element is not None else None, "count": 0}
        if "tensors" in use.marks and not read & TENSORS and not use.items:
            return {"kind": "list", "item": self.tensor(name, use.element or use)}
        if "dataset" in use.marks:
            if use.element is None:
                use.each()
            self.stands(name, "a dataset of samples that are made already")
            return {**self.many(name, use, said=False), "kind": "dataset"}
        if use.items and all(isinstance(key, str) for key in use.items):
            return {"kind": "dict", "items": {key: self.thing(key, item) for key, item in use.items.items()}}
        if "iterated" in use.marks and use.element is not None and not read & TENSORS:
            many = self.many(name, use)
            if not use.element.items and len(many["items"]) == 1 and many["items"][0]["kind"] == "tensor":
                return {"kind": "choice", "of": [many, self.tensor(name, use)]}  # batches, or the rows of a tensor
            return many
        if use.items and "sliced" in use.marks and not any(item.read - TENSORS for item in use.items.values()):
            return self.tensor(name, use)  # its rows have names: row, column = edges
        if use.items:
            return {
                "kind": "tuple",
                "items": [self.thing(f"{name}{i}", use.items.get(i, Use(name))) for i in range(max(use.items) + 1)],
            }
        if (of := self.class_of(use)) is not None:
            return {**self.object_of(of, use), "origin": f"made of class {of}, which has its methods"}
        foreign = {attribute for attribute in read - TENSORS - PASSING if not attribute.endswith("_")}
        if foreign and not read & {"shape", "backward", "item", "view", "reshape"}:
            return self.object(name, use)
        if not read and use.marks <= {"tested"} and "tested" in use.marks:
            return {"kind": "guess", "value": False, "others": [True]}
        if not read & TENSORS and ("number" in use.marks or "modulo" in use.marks or _NUMBERS.match(low)):
            if "number" in use.marks or "modulo" in use.marks:
                return _number(low)
            return {"kind": "choice", "of": [_number(low), self.tensor(name, use)]}
        if not read and "size" in use.marks:
            return _number(low, "D")
        if "elementwise" in use.marks:
            return self.tensor(name, use)
        telling = _TOKENS.search(low) or _INTEGERS.search(low) or _MASKS.search(low)
        if not read and not use.marks - {"compared", "passed", "operand"} and not telling:
            return {"kind": "choice", "of": [self.tensor(name, use), _number(low)]}
        return self.tensor(name, use)

    def foreign(self, name: str, use: Use) -> dict[str, Any]:
        """What another module defines: a class by its name, an object where attributes are read, else a function."""
        if name in self.hinted:
            return dict(self.hinted[name])
        if "class" in use.marks and "called" not in use.marks:
            return {"kind": "class"}
        if "called" in use.marks:
            given = use.result or Use(name)
            if name[:1].isupper() or "class" in use.marks:
                plain = {"kind": "object", "attributes": {}}
                made = self.thing(name.lower(), given) if given.read or "called" in given.marks else None
                gives = made or {"kind": "choice", "of": [self.network(name.lower(), given), plain]}
                return {"kind": "class", "gives": gives}
            return {"kind": "function", "gives": self.gives(name, given)}
        if use.attributes:
            self.result.attributes.update(use.attributes)
            return {"kind": "object", "attributes": {a: self.foreign(a, below) for a, below in use.attributes.items()}}
        return self.thing(name, use)

    def stands(self, name: str, what: str) -> None:
        said = f"{name} is {what}"
        if said not in self.result.stand_ins:
            self.result.stand_ins.append(said)

    def tensor(self, name: str, use: Use) -> dict[str, Any]:
        low = name.lower()
        described: dict[str, Any] = {"kind": "tensor", "rank": use.rank}
        if "scalar" in use.marks and not use.rank and not use.items and use.element is None:
            return {**described, "dtype": "open", "rank": 0, "grad": "backward" in use.read}
        if use.marks & {"rows", "image", "sequence"}:
            rank = 4 if "image" in use.marks else 3 if "sequence" in use.marks else use.rank
            return {**described, "dtype": "float", "rank": rank, "grad": "backward" in use.read}
        inner = use.element.marks if use.element is not None else set()
        if "probability" in use.marks | inner:
            return {**described, "dtype": "float", "fill": "probability"}
        if _COUNTS.search(low) and not use.marks & {"index", "token", "label"}:
            return {**described, "dtype": "int64", "fill": "ones"}
        if _MASKS.search(low):
            return {**described, "dtype": "bool"}
        if "token" in use.marks | inner or _TOKENS.search(low):
            return {**described, "dtype": "tokens"}
        if "index" in use.marks | inner:
            where = {"device": "cpu"} if self.hosted else {}
            return {**described, "dtype": "selecting" if self.selecting else "index", **where}
        if "label" in use.marks | inner:
            return {**described, "dtype": "int64"}
        if _INTEGERS.search(low) or "compared-with" in use.marks:
            return {**described, "dtype": "labels"}
        return {**described, "dtype": "open", "grad": "backward" in use.read}

    def placed(self, described: dict[str, Any], use: Use) -> dict[str, Any]:
        """An element of a loader is on the host where the code moves it."""
        moved = bool(use.read & {"to", "cuda"})
        if described["kind"] == "tensor" and (moved or "numpy" in use.marks):
            return self.on_host(described)
        if described["kind"] == "object" and moved:
            attributes = described["attributes"].items()
            described["attributes"] = {name: self.on_host(item, choices=False) for name, item in attributes}
        return described

    def on_host(self, described: dict[str, Any], *, choices: bool = True) -> dict[str, Any]:
        """The same on the host, as far as it is a tensor."""
        if described["kind"] == "choice" and choices:
            return {**described, "of": [self.on_host(one) for one in described["of"]]}
        pinned = {"pinned": True} if self.pinned else {}
        return {**described, "device": "cpu", **pinned} if described["kind"] == "tensor" else described

    def network(self, name: str, use: Use) -> dict[str, Any]:
        self.stands(name, "a small network")
        ordinary = _MODULE | PASSING | {"zero_grad", "training", "module", "forward", "to", "double", "register_buffer"}
        calls = {}
        for attribute, below in use.attributes.items():
            if attribute not in ordinary and (not attribute.startswith("_") or _is_their_own(attribute)):
                calls[attribute] = self.answer(attribute, below)
                self.result.attributes.add(attribute)
        gives = self.gives(name, use.result) if use.result is not None else None
        wide = any(re.search("vocab|tokens", attribute) for attribute in calls)
        listings = (use.attributes.get(listing) for listing in ("parameters", "named_parameters", "state_dict"))
        given = [listing.result for listing in listings if listing is not None and listing.result is not None]
        deep = any(one.marks & {"iterated", "mapping"} for one in given)
        return {"kind": "network", "gives": gives, "calls": calls, "grads": self.grads, "wide": wide, "deep": deep}

    def gives(self, name: str, use: Use) -> dict[str, Any]:
        """What a call gives, from what is done with it."""
        if "several" in use.marks and not use.items:  # torch.min(*pair)
            return {"kind": "tuple", "items": [self.gives(f"{name}{i}", Use(f"{name}{i}")) for i in range(2)]}
        if use.items and all(isinstance(key, str) for key in use.items):
            return {"kind": "dict", "items": {str(key): self.gives(str(key), item) for key, item in use.items.items()}}
        if use.items:
            last = max(key for key in use.items if isinstance(key, int))
            items = [use.items.get(i, Use(f"{name}{i}")) for i in range(last + 1)]
            return {"kind": "tuple", "items": [self.gives(item.name, item) for item in items]}
        if "mapping" in use.marks:
            return {"kind": "dict", "items": {"value": {"kind": "result", "of": "mean"}}}
        inner = use.element
        if "indexed" in use.marks and inner is not None and (inner.items or inner.read - TENSORS - PASSING):
            return {"kind": "tuple", "items": [self.gives(name, inner)]}
        fields = {a: below for a, below in use.attributes.items() if a not in TENSORS | PASSING and not a.endswith("_")}
        if fields and not use.read & {"shape", "backward", "view", "reshape", "dim"}:
            read = {a: below for a, below in use.attributes.items() if a not in PASSING and "called" not in below.marks}
            fields = {**fields, **read}
            self.result.attributes.update(fields)
            return {"kind": "object", "attributes": {a: self.gives(a, below) for a, below in fields.items()}}
        if "backward" in use.read or "loss" in use.marks or _LOSSES.search(use.name):
            return {"kind": "result", "of": "loss"}
        if "index" in use.marks and not use.read - {"shape"}:
            return {"kind": "result", "of": "index"}
        if "scalar" in use.marks and not use.read & {"shape", "view", "reshape", "mean", "sum", "max", "any", "all"}:
            return {"kind": "result", "of": "mean"}
        if re.match(r"(n|num|count)(_|$)", use.name) and "item" in use.read:
            return {"kind": "result", "of": "count"}
        return {"kind": "result", "of": ""}

    def answer(self, name: str, use: Use) -> dict[str, Any]:
        """What calling, or reading, an attribute of a stand-in gives."""
        if "called" not in use.marks:
            return self.thing(name, use)
        if _NETWORKS.search(name):
            return self.network(name, use)
        if name in _ANSWERS:
            return {"kind": "function", "gives": _ANSWERS[name], "origin": "a stand-in"}
        given = self.gives(name, use.result or Use(name))
        if given == {"kind": "result", "of": ""} and (CRITERIA.search(name) or "loss" in name):
            given = {"kind": "result", "of": "mean"}
        return {"kind": "function", "gives": given, "origin": "a stand-in"}

    def object(self, name: str, use: Use) -> dict[str, Any]:
        self.stands(name, "an object with the attributes that are read")
        self.result.attributes.update(use.attributes)
        moves = bool(use.read & {"to", "cuda"})
        attributes = {a: self.answer(a, below) for a, below in use.attributes.items() if not (moves and a in PASSING)}
        if moves:
            attributes.setdefault("x", {"kind": "tensor", "dtype": "float"})
        return {"kind": "object", "moves": moves, "attributes": attributes}

    def many(self, name: str, use: Use, *, said: bool = True) -> dict[str, Any]:
        element = use.element
        assert element is not None
        if said:
            self.stands(name, "batches that are on the host already")
        inside = element.items
        if inside and all(isinstance(key, int) for key in inside):
            parts = [inside.get(i, Use(name)) for i in range(max(inside) + 1)]
            return {"kind": "loader", "items": [self.placed(self.thing(part.name, part), part) for part in parts]}
        described = self.thing(element.name, element)
        if described["kind"] == "dict":
            described["items"] = {
                key: self.placed(item, element.items[key]) if key in element.items else item
                for key, item in described["items"].items()
            }
        return {"kind": "loader", "items": [self.placed(described, element)]}


_TORCHS = frozenset(f"{ATTRIBUTES} {REFUSED_ATTRIBUTES}".split())


def _is_their_own(attribute: str) -> bool:
    """Whether a private attribute is none that modules have."""
    return not attribute.startswith("__") and attribute not in _TORCHS


# What methods of tokenizers give.
_ANSWERS: Mapping[str, Any] = {
    "encode": {"kind": "list", "item": {"kind": "number", "value": 7}, "count": 12},
    **{name: {"kind": "number", "value": "a text"} for name in ("decode", "batch_decode")},
}
_OPTIMIZERS = re.compile(r"^(SGD|A?Adam\w*|RMSprop|Adagrad|NAdam|RAdam|Optimizer)$")
_COUNTS = re.compile(r"(^|_)(counts?|sizes|splits)$")
_LOSSES = re.compile(r"loss|objective|^(err|error|nll)$")


def _fields(owner: ast.ClassDef) -> list[Parameter]:
    """The parameters of a data class."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in owner.decorator_list):
        return []
    return [
        Parameter(child.target.id, child.value, child.annotation)
        for child in owner.body
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name)
    ]


def _is_device(name: str, use: Use) -> bool:
    return name.lower() in ("device", "dev") or (
        "device" in use.marks and not use.attributes and "passed" not in use.marks
    )


def _number(name: str, otherwise: Any = 4) -> dict[str, Any]:
    for pattern, value in _VALUES.items():
        if re.fullmatch(pattern, name):
            return {"kind": "guess", "value": value, "others": [4, 1, 0.5, "D"]}
    return {"kind": "guess", "value": otherwise, "others": [4, 1, 0.5, "D", "B"]}


def descriptions(given: Any) -> Iterator[Mapping[str, Any]]:
    """The descriptions in what a plan says of inputs, and those within them."""
    todo = [given]
    while todo:
        one = todo.pop()
        if isinstance(one, Mapping):
            yield one
            todo += one.values()
        elif isinstance(one, (list, tuple)):
            todo += one


def sizes(name: str) -> list[dict[str, int]]:
    """What the symbols of shapes stand for: the size asked for first, then smaller ones."""
    names = list(_SIZES)
    return [dict(_SIZES[one]) for one in names[names.index(name) :]]
