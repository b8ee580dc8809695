"""What to call a piece of code with: descriptions of its arguments, from hints and from how the code uses them.

A walk over the code collects what is done with each parameter, its attributes, items and elements; from that each gets
a description the worker can build (`worker.Builder`). What the code does not tell, the size of a last dimension or the
rank of a tensor, is left open as symbols, and a list of trials says in which order the worker tries values until the
code accepts them. Nothing is guessed in silence: each description says where it comes from.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.verify.extract import Unit

__all__ = ["SIZES", "HintError", "Needs", "hints", "needs"]

# What the symbols of shapes stand for: batch, time, width, heads, channels, side of an image; steps of a loop.
SIZES: Mapping[str, Mapping[str, int]] = {
    "small": {"B": 4, "T": 8, "D": 16, "H": 2, "C": 3, "S": 8, "steps": 4},
    "medium": {"B": 64, "T": 512, "D": 512, "H": 8, "C": 3, "S": 64, "steps": 30},
    "large": {"B": 256, "T": 2048, "D": 1024, "H": 16, "C": 3, "S": 224, "steps": 50},
}
CLASSES, VOCABULARY = 10, 1000
MAX_TRIALS = 48
_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_HINT = re.compile(r"#\s*torchlint:\s*input\s+(?P<rest>.*)")
_ONE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\S.*?)\s*$")
_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d,\s]*)\]")

# Methods that give back the same thing, moved or cast.
_PASS = frozenset(
    "to cuda cpu detach float half bfloat16 double contiguous requires_grad_ clone pin_memory long int squeeze".split()
)
_MODULE = frozenset("parameters named_parameters train eval state_dict load_state_dict modules named_modules children "
                    "buffers named_buffers apply requires_grad_ register_forward_hook".split())  # fmt: skip
_OPTIMIZER = frozenset("step zero_grad param_groups state add_param_group".split())
_SCALER = frozenset("scale unscale_ update".split())
_TENSORS = frozenset(
    """
    shape size dim ndim view reshape item tolist numpy mean sum permute transpose dtype device unsqueeze max min
    argmax argmin pow abs sqrt exp log clamp expand masked_fill flatten T mT numel backward grad requires_grad
    new_zeros new_ones new_full norm chunk split repeat copy_ add_ mul_ sub_ div_ fill_ zero_ is_cuda gather scatter
    index_select nonzero any all var std softmax sigmoid tanh relu topk sort cumsum isnan isfinite isinf
    masked_select stride element_size narrow unbind eq ne lt gt le ge where square bool
    """.split()
)
_INTEGERS = re.compile(
    r"(^|_)(y|labels?|targets?|gold|ids?|idx|index|indices|tokens?|actions?|classes|input_ids|tgt|lens?|lengths?)$"
)
_TOKENS = re.compile(r"(^|_)(ids|tokens?|input_ids|prompt|words?|src|seq)$")
_MASKS = re.compile(r"(mask|valid|keep|usable|done)s?$")
_NUMBERS = re.compile(
    r"^(n|k|i|j|t|p|lr|eps|epsilon|alpha|beta\d?|gamma|tau|decay|momentum|scale|temperature|weight_decay|dropout|rate|"
    r"epochs?|steps?|iters?|iterations?|.*_(steps?|epochs?|iters?|every|interval|size|len|length|dim|rate|decay|eps)|"
    r"(num|max|min|n|log)_.*|every|interval|batch_size|width|dim|hidden|heads?|depth|layers?|repeats?|channels?)$"
)
_CRITERIA = re.compile(r"crit|loss|objective")
_VALUES = {  # what a number of that name is
    r"lr|.*_rate|weight_decay|decay": 0.01,
    r"eps|epsilon": 1e-5,
    r"alpha|beta\d?|gamma|momentum|tau|temperature|scale": 0.5,
    r"p|dropout": 0.0,
    r"epochs?|num_epochs|n_epochs|depth|layers?|num_layers|n_layers?": 2,
    r"heads?|num_heads|n_heads?": "H",
    r"num_classes|n_classes|classes|out_features": CLASSES,
    r"vocab.*|num_embeddings|n_vocab": VOCABULARY,
    r"batch_size|b": "B",
    r"max_len.*|seq_len.*|t|length|max_seq.*|block_size|context.*": "T",
    r"(in_)?channels?": "D",
    r".*(every|interval|freq)": 10,
    r".*dim|.*width|hidden.*|.*features|d_model|n_embd|embed.*|.*size": "D",
    r".*steps?|.*iters?|.*iterations?|repeats?|n|k": "steps",
}


class HintError(ValueError):
    """A hint that cannot be read; the text says which and why."""


@dataclass(slots=True)
class Needs:
    """How to call a unit.

    Attributes:
        arguments: a description for each parameter, in order.
        globals: the same for names of the module that only running it would give.
        trials: values for the symbols, in the order in which they are tried.
        stand_ins: what replaces something of the user's, one sentence each.
        attributes: names that stand-ins have.
    """

    arguments: list[dict[str, Any]] = field(default_factory=list)
    globals: dict[str, dict[str, Any]] = field(default_factory=dict)
    trials: list[dict[str, Any]] = field(default_factory=list)
    stand_ins: list[str] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)


def hints(lines: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The inputs that comments name, `# torchlint: input q=bf16[8,16,2048,64], steps=100`, by name.

    They are parsed, never evaluated.

    Raises:
        HintError: one that cannot be read.
    """
    found = {}
    for row, line in enumerate(lines, start=1):
        match = _HINT.search(line)
        if match is None:
            continue
        for part in re.split(r",\s*(?=[A-Za-z_]\w*\s*=)", match["rest"]):
            one = _ONE.match(part)
            if one is None:
                raise HintError(
                    f"line {row}: an input hint reads name=dtype[sizes] or name=number, not '{part.strip()}'"
                )
            found[one["name"]] = {**_hinted(one["value"], row), "origin": f"hint in line {row}"}
    return found


def _hinted(text: str, row: int) -> dict[str, Any]:
    tensor = _TENSOR.fullmatch(text)
    if tensor is not None:
        dtype = _DTYPES.get(tensor["dtype"], tensor["dtype"])
        if dtype not in _DTYPES.values():
            raise HintError(f"line {row}: no dtype is called '{tensor['dtype']}'")
        return {"kind": "tensor", "dtype": dtype, "shape": [int(n) for n in tensor["shape"].replace(",", " ").split()]}
    try:
        return {"kind": "number", "value": ast.literal_eval(text)}
    except (ValueError, SyntaxError, RecursionError) as error:
        raise HintError(f"line {row}: '{text}' is neither a tensor such as f32[8,16] nor a literal") from error


# -- what the code does with its parameters ----------------------------------------------------------------------------


class _Use:
    """What is done with one thing: a parameter, an attribute or element of one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, _Use] = {}
        self.items: dict[Any, _Use] = {}
        self.element: _Use | None = None
        self.result: _Use | None = None
        self.marks: set[str] = set()
        self.rank: int | None = None
        self.texts: list[str] = []

    def attribute(self, name: str) -> _Use:
        return self.attributes.setdefault(name, _Use(name))

    def item(self, key: Any) -> _Use:
        return self.items.setdefault(key, _Use(key if isinstance(key, str) else self.name))

    def each(self) -> _Use:
        if self.element is None:
            self.element = _Use(self.name)
        return self.element

    def called(self) -> _Use:
        if self.result is None:
            self.result = _Use(f"{self.name}()")
        return self.result

    @property
    def read(self) -> set[str]:
        return set(self.attributes)


_FACTORIES = frozenset("empty zeros ones full randn rand randint arange eye".split())  # they take sizes
_NETWORKS = re.compile(r"(net|model|encoder|decoder|policy|critic|actor|backbone|module|head|q\d?)$")
# Calls that mark an argument, by the last part of the name: position -> mark.
_MARKS = {
    "cross_entropy": {0: "scores", 1: "label"},
    "nll_loss": {0: "scores", 1: "label"},
    "mse_loss": {0: "tensor", 1: "tensor"},
    "binary_cross_entropy": {0: "probability", 1: "probability"},
    "embedding": {0: "token", 1: "tensor"},
    "one_hot": {0: "label"},
    "range": {0: "number", 1: "number", 2: "number"},
    "float": {0: "tensor"},
}


class _Walk:
    """Follows the uses of parameters through a function, and through the functions of the file that it calls."""

    def __init__(self, unit: Unit) -> None:
        self.functions = {n.name: n for n in unit.tree.body if isinstance(n, ast.FunctionDef)}
        self.classes = {n.name: n for n in unit.tree.body if isinstance(n, ast.ClassDef)}
        self.globals = {name: _Use(name) for name in unit.free}
        self.active: list[ast.AST] = []

    def function(self, function: ast.FunctionDef, given: dict[str, _Use]) -> _Use | None:
        if function in self.active or len(self.active) > 6:
            return None
        self.active.append(function)
        inner = _Body(self, {**self.globals, **given})
        for statement in function.body:
            inner.visit(statement)
        self.active.pop()
        return inner.returned

    def methods(self, owner: ast.ClassDef) -> dict[str, ast.FunctionDef]:
        return {child.name: child for child in owner.body if isinstance(child, ast.FunctionDef)}


class _Body(ast.NodeVisitor):
    def __init__(self, walk: _Walk, names: dict[str, _Use]) -> None:
        self.walk = walk
        self.names = names
        self.returned: _Use | None = None
        self.owner: ast.ClassDef | None = getattr(walk, "owner", None)

    # -- expressions give the thing they stand for, or None

    def of(self, node: ast.AST | None) -> _Use | None:
        if node is None:
            return None
        method = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if method is not None:
            return method(node)  # type: ignore[no-any-return]
        for child in ast.iter_child_nodes(node):
            self.of(child)
        return None

    def of_name(self, node: ast.Name) -> _Use | None:
        return self.names.get(node.id)

    def of_attribute(self, node: ast.Attribute) -> _Use | None:
        base = self.of(node.value)
        return base.attribute(node.attr) if base is not None else None

    def of_subscript(self, node: ast.Subscript) -> _Use | None:
        base = self.of(node.value)
        if isinstance(node.slice, ast.Constant) and base is not None:
            if isinstance(node.slice.value, str):
                return base.item(node.slice.value)
            if isinstance(node.slice.value, int) and base.name not in ("shape", "size()"):
                base.marks.add("indexed")
                return base.each()
        index = self.of(node.slice)
        if index is not None:
            index.marks.add("index")
        if base is not None:
            base.marks.add("sliced")
            if isinstance(node.slice, ast.Tuple) and not any(
                isinstance(e, ast.Constant) and e.value in (None, ...) for e in node.slice.elts
            ):
                base.rank = max(base.rank or 0, len(node.slice.elts))
        return None

    def of_binop(self, node: ast.BinOp) -> _Use | None:
        for side in (node.left, node.right):
            use = self.of(side)
            if use is not None:
                use.marks.add(
                    "matmul"
                    if isinstance(node.op, ast.MatMult)
                    else "modulo"
                    if isinstance(node.op, ast.Mod)
                    else "operand"
                )
        return None

    def of_compare(self, node: ast.Compare) -> _Use | None:
        uses = [self.of(side) for side in (node.left, *node.comparators)]
        for use in uses:
            if use is not None:
                use.marks.add("compared")
                use.texts += [
                    c.value
                    for c in (node.left, *node.comparators)
                    if isinstance(c, ast.Constant) and isinstance(c.value, str)
                ]
        return None

    def of_ifexp(self, node: ast.IfExp) -> _Use | None:
        self.tested(node.test)
        return self.of(node.body) or self.of(node.orelse)

    def of_namedexpr(self, node: ast.NamedExpr) -> _Use | None:
        use = self.of(node.value)
        if use is not None:
            self.names[node.target.id] = use
        return use

    def of_lambda(self, node: ast.Lambda) -> _Use | None:
        return None

    def comprehension(self, node: ast.AST) -> _Use | None:
        for generator in node.generators:  # type: ignore[attr-defined]
            self.bind(generator.target, self.iterate(generator.iter))
            for test in generator.ifs:
                self.tested(test)
        for part in ("elt", "key", "value"):
            self.of(getattr(node, part, None))
        return None

    of_listcomp = of_setcomp = of_dictcomp = of_generatorexp = comprehension

    def of_call(self, node: ast.Call) -> _Use | None:
        arguments = [self.of(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        keywords = {k.arg: self.of(k.value) for k in node.keywords}
        if keywords.get("device") is not None:
            keywords["device"].marks.add("device")  # type: ignore[union-attr]
        if isinstance(node.func, ast.Attribute):
            base = self.of(node.func.value)
            name = node.func.attr
            if base is not None:
                return self.method(base, name, node, arguments, keywords)
            self.mark(name, arguments)
            return None
        if isinstance(node.func, ast.Name):
            own = self.walk.functions.get(node.func.id)
            if own is not None:
                return self.walk.function(own, _bound(own, arguments, keywords))
            made = self.walk.classes.get(node.func.id)
            if made is not None and (init := self.walk.methods(made).get("__init__")) is not None:
                self.walk.function(init, _bound(init, [_Use("self"), *arguments], keywords))
                return None
            called = self.names.get(node.func.id)
            if called is None:
                self.mark(node.func.id, arguments)
                if node.func.id in ("iter", "list", "tuple", "reversed") and arguments:
                    return arguments[0]
                if node.func.id == "next" and arguments and arguments[0] is not None:
                    arguments[0].marks.add("iterated")
                    return arguments[0].each()
                return None
            called.marks.add("called")
            if node.keywords and any(k.arg is None for k in node.keywords):
                for use in keywords.values():
                    if use is not None:
                        use.marks.add("mapping")
            self.passed(arguments, called)
            return called.called()
        called = self.of(node.func)
        if called is not None:
            called.marks.add("called")
            return called.called()
        return None

    def method(
        self, base: _Use, name: str, node: ast.Call, arguments: list[_Use | None], keywords: Mapping[Any, _Use | None]
    ) -> _Use | None:
        if base.name == "self" and self.owner is not None:
            own = self.walk.methods(self.owner).get(name)
            if own is not None:
                return self.walk.function(own, _bound(own, [base, *arguments], keywords))
        if name in _PASS:
            if name in ("to", "cuda") and arguments and arguments[0] is not None and not arguments[0].attributes:
                arguments[0].marks.add("device")
            base.attribute(name)
            if name == "long":
                base.marks.add("label")
            return base
        if name in ("permute",) and len(node.args) > 1:
            base.rank = len(node.args)
        if name in ("transpose", "swapaxes", "flatten"):
            given = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
            base.rank = max(base.rank or 0, max((g + 1 if g >= 0 else -g for g in given), default=0)) or base.rank
        if name in ("view", "reshape", "expand", "size", "masked_fill", "mul", "add"):
            for argument in arguments:
                if argument is not None and name in ("view", "reshape", "expand", "size"):
                    argument.marks.add("number")
        attribute = base.attribute(name)
        attribute.marks.add("called")
        self.passed(arguments, attribute)
        if name == "items" and not node.args:
            base.marks.add("mapping")
        return attribute.called()

    def passed(self, arguments: Sequence[_Use | None], to: _Use) -> None:
        """Arguments of a call of something unknown: what a criterion takes second are labels."""
        if _CRITERIA.search(to.name) and len(arguments) > 1 and arguments[1] is not None:
            arguments[1].marks.add("compared-with")
        for argument in arguments:
            if argument is not None:
                argument.marks.add("passed")

    def mark(self, name: str, arguments: Sequence[_Use | None]) -> None:
        otherwise = "size" if name in _FACTORIES or name[:1].isupper() else "passed"
        for position, argument in enumerate(arguments):
            if argument is not None:
                argument.marks.add(_MARKS.get(name, {}).get(position, otherwise))

    # -- statements

    def iterate(self, node: ast.AST) -> _Use | None:
        """What one round of a loop over `node` gets."""
        if isinstance(node, ast.Call):
            head = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if head == "enumerate" and node.args:
                pair = _Use("pair")
                pair.items = {0: _Use("index"), 1: self.iterate(node.args[0]) or _Use("item")}
                return pair
            if head == "zip":
                pair = _Use("pair")
                pair.items = {i: self.iterate(a) or _Use("item") for i, a in enumerate(node.args)}
                return pair
            if head in ("tqdm", "trange", "reversed", "list", "sorted", "iter", "islice", "tuple") and node.args:
                return self.iterate(node.args[0])
            if isinstance(node.func, ast.Attribute) and head in ("items", "values", "keys"):
                base = self.of(node.func.value)
                if base is not None:
                    base.marks.add("mapping")
                return None
        use = self.of(node)
        if use is None:
            return None
        use.marks.add("iterated")
        return use.each()

    def bind(self, target: ast.AST, use: _Use | None) -> None:
        if isinstance(target, ast.Name):
            if use is not None:
                if use.name == "item" or target.id not in self.names:
                    use.name = target.id if not use.attributes else use.name
                self.names[target.id] = use
            else:
                self.names.pop(target.id, None)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for index, part in enumerate(target.elts):
                self.bind(part, use.item(index) if use is not None and not isinstance(part, ast.Starred) else None)
        elif isinstance(target, ast.Attribute):
            base = self.of(target.value)
            if base is not None and use is not None:
                base.attributes[target.attr] = use
            elif base is not None and base.name == "self":
                base.attributes.setdefault(target.attr, _Use(target.attr)).marks.add("made")
        else:
            self.of(target)

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            if isinstance(target, ast.Tuple):
                ranked = self.of(node.value)
                if ranked is not None and ranked.name in ("shape", "size()"):
                    owner = self.shaped(node.value)
                    if owner is not None and not any(isinstance(e, ast.Starred) for e in target.elts):
                        owner.rank = len(target.elts)
                    self.bind(target, None)
                    continue
                if isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(target.elts):
                    for part, value in zip(target.elts, node.value.elts, strict=True):
                        self.bind(part, self.of(value))
                    continue
                self.bind(target, ranked)
            else:
                self.bind(target, self.of(node.value))

    def shaped(self, node: ast.AST) -> _Use | None:
        """The thing whose shape or size() the expression is."""
        if isinstance(node, ast.Call):
            node = node.func
        return self.of(node.value) if isinstance(node, ast.Attribute) else None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.bind(node.target, self.of(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.of(node.value)
        use = self.of(node.target)
        if use is not None:
            use.marks.add("accumulated")

    def visit_For(self, node: ast.For) -> None:
        self.bind(node.target, self.iterate(node.iter))
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def tested(self, node: ast.AST) -> None:
        use = self.of(node)
        if use is not None:
            use.marks.add("tested")

    def visit_If(self, node: ast.If) -> None:
        self.tested(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_While(self, node: ast.While) -> None:
        self.tested(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            use = self.of(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, use)
        for statement in node.body:
            self.visit(statement)

    def visit_Return(self, node: ast.Return) -> None:
        self.returned = self.of(node.value) or self.returned

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr):
            self.of(node)
            return
        for child in ast.iter_child_nodes(node):
            self.of(child) if isinstance(child, ast.expr) else self.visit(child)


def _parameters(function: ast.FunctionDef) -> list[tuple[str, ast.expr | None]]:
    """Positional parameters with their defaults."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(function.args.defaults))
    return [(a.arg, d) for a, d in zip(arguments, [*defaults, *function.args.defaults], strict=True)]


def _bound(
    function: ast.FunctionDef, arguments: Sequence[_Use | None], keywords: Mapping[Any, _Use | None]
) -> dict[str, _Use]:
    names = [name for name, _ in _parameters(function)]
    given = {name: use for name, use in zip(names, arguments, strict=False) if use is not None}
    given.update({name: use for name, use in keywords.items() if name in names and use is not None})
    return given


# -- descriptions ------------------------------------------------------------------------------------------------------


def needs(unit: Unit, hinted: Mapping[str, Mapping[str, Any]]) -> Needs:
    """How to call the unit: descriptions from hints first, then from the uses."""
    walk = _Walk(unit)
    made = _Describe(hinted)
    made.grads = ".grad" in unit.source and "backward(" not in unit.source
    if unit.owner is None:
        uses = {name: _Use(name) for name, _ in _parameters(unit.function)}
        walk.function(unit.function, uses)
        parameters = _parameters(unit.function)
    else:
        walk.owner = unit.owner  # type: ignore[attr-defined]
        this = _Use("self")
        init = walk.methods(unit.owner).get("__init__")
        built = {name: _Use(name) for name, _ in _parameters(init)[1:]} if init is not None else {}
        if init is not None:
            walk.function(init, {"self": this, **built})
        uses = {name: _Use(name) for name, _ in _parameters(unit.function)}
        first = _parameters(unit.function)[0][0] if uses else "self"
        uses[first] = this
        walk.function(unit.function, uses)
        for name, method in walk.methods(unit.owner).items():  # what other methods do with what __init__ was given
            if name != "__init__" and method is not unit.function:
                walk.function(method, {"self": this})
        made.own(first, unit.owner, _parameters(init)[1:] if init is not None else [], built)
        parameters = _parameters(unit.function)[1:]
    for name, default in parameters:
        made.parameter(name, uses[name], default)
    for name, use in walk.globals.items():
        made.result.globals[name] = made.thing(name, use)
    made.finish(unit)
    return made.result


class _Describe:
    """Turns uses into descriptions."""

    def __init__(self, hinted: Mapping[str, Mapping[str, Any]]) -> None:
        self.hinted = hinted
        self.result = Needs()
        self.flags = False
        self.grads = False  # gradients are read that the code does not make

    def parameter(self, name: str, use: _Use, default: ast.expr | None) -> None:
        self.result.arguments.append({"name": name, **self.value(name, use, default)})

    def value(self, name: str, use: _Use, default: ast.expr | None) -> dict[str, Any]:
        if name in self.hinted:
            return dict(self.hinted[name])
        if default is not None:
            try:
                literal = ast.literal_eval(default)
            except (ValueError, SyntaxError):
                literal = ...
            if literal is not ... and not (isinstance(literal, str) and _is_device(name, use)):
                # None stands for "made inside"; a device is the one measured on, whatever the default says.
                return {"kind": "number", "value": literal, "origin": "its default"}
        return self.thing(name, use)

    def own(
        self, name: str, owner: ast.ClassDef, parameters: list[tuple[str, ast.expr | None]], uses: dict[str, _Use]
    ) -> None:
        """The receiver: an object of the file's own class, built like any other."""
        kwargs = {
            parameter: {"name": parameter, **self.value(parameter, uses[parameter], default)}
            for parameter, default in parameters
        }
        self.result.arguments.append(
            {"name": name, "kind": "own", "path": owner.name, "kwargs": kwargs, "origin": f"made of class {owner.name}"}
        )

    def thing(self, name: str, use: _Use) -> dict[str, Any]:
        if name in self.hinted:
            return dict(self.hinted[name])
        described = self._thing(name, use)
        described.setdefault("origin", "from how it is used")
        return described

    def _thing(self, name: str, use: _Use) -> dict[str, Any]:
        read, low = use.read, name.lower()
        if _is_device(name, use):
            return {"kind": "device"}
        if low in ("params", "parameters"):
            self.stands(name, "the parameters of a small network, with gradients")
            return {"kind": "parameters"}
        if low == "dtype":
            return {"kind": "dtype", "value": "float32"}
        if read & _SCALER and "scale" in read:
            self.stands(name, "a gradient scaler")
            return {"kind": "scaler"}
        if "step" in read and ("sched" in low or "last_epoch" in read or "get_last_lr" in read):
            self.stands(name, "a scheduler that changes nothing")
            return {"kind": "scheduler"}
        if read & _OPTIMIZER and not read & _MODULE and (read & {"step", "param_groups"} or "opt" in low):
            self.stands(name, "SGD")
            return {"kind": "optimizer"}
        if use.texts:
            return {"kind": "number", "value": use.texts[0]}
        if read & _MODULE or ("called" in use.marks and not _CRITERIA.search(low)) or "module" in use.marks:
            return self.network(name, use)
        if "called" in use.marks:
            self.stands(name, "a criterion")
            return {"kind": "function", "of": "criterion"}
        if "iterated" in use.marks and use.element is not None and not read & {"shape", "dtype", "unbind"}:
            return self.many(name, use)
        if use.items and all(isinstance(key, str) for key in use.items):
            return {"kind": "dict", "items": {key: self.thing(key, item) for key, item in use.items.items()}}
        if use.items:
            return {
                "kind": "tuple",
                "items": [self.thing(f"{name}{i}", use.items.get(i, _Use(name))) for i in range(max(use.items) + 1)],
            }
        foreign = read - _TENSORS - _PASS
        if foreign and not read & {"shape", "backward", "item", "view", "reshape"}:
            return self.object(name, use)
        if not read and use.marks <= {"tested"} and "tested" in use.marks:
            self.flags = True
            return {"kind": "symbol", "value": "flag"}
        if not read & _TENSORS and ("number" in use.marks or "modulo" in use.marks or _NUMBERS.match(low)):
            return _number(low)
        if not read and "size" in use.marks:
            found = _number(low)
            return found if found["kind"] == "symbol" or found["value"] != 4 else {"kind": "symbol", "value": "D"}
        return self.tensor(name, use)

    def stands(self, name: str, what: str) -> None:
        self.result.stand_ins.append(f"{name} is {what}")

    def tensor(self, name: str, use: _Use) -> dict[str, Any]:
        low = name.lower()
        described: dict[str, Any] = {"kind": "tensor", "rank": use.rank}
        if _MASKS.search(low):
            return {**described, "dtype": "bool"}
        if "token" in use.marks or _TOKENS.search(low):
            return {**described, "dtype": "int64", "role": "tokens"}
        if "label" in use.marks:
            return {**described, "dtype": "int64", "role": "labels"}
        if _INTEGERS.search(low) or "compared-with" in use.marks:
            return {**described, "dtype": "labels", "role": "labels"}
        if "probability" in use.marks:
            return {**described, "dtype": "float", "fill": "probability"}
        return {**described, "dtype": "float", "grad": "backward" in use.read}

    def placed(self, described: dict[str, Any], use: _Use) -> dict[str, Any]:
        """An element of a loader is on the host where the code moves it."""
        if described["kind"] == "tensor" and use.read & {"to", "cuda"}:
            described["device"] = "cpu"
        return described

    def network(self, name: str, use: _Use) -> dict[str, Any]:
        self.stands(name, "a small network")
        fields = sorted(use.result.read & {"loss", "logits", "last_hidden_state"}) if use.result is not None else []
        calls = {}
        for attribute, below in use.attributes.items():
            if attribute not in _MODULE | _PASS | {
                "zero_grad",
                "training",
                "module",
                "forward",
                "to",
                "double",
            } and not attribute.startswith("_"):
                calls[attribute] = self.answer(attribute, below)
                self.result.attributes.add(attribute)
        self.result.attributes.update(fields)
        return {"kind": "network", "fields": fields, "calls": calls, "grads": self.grads}

    def answer(self, name: str, use: _Use) -> dict[str, Any]:
        """What calling, or reading, an attribute of a stand-in gives."""
        if "called" not in use.marks:
            return self.thing(name, use)
        if _NETWORKS.search(name):
            return self.network(name, use)
        is_loss = _CRITERIA.search(name) or (use.result is not None and "backward" in use.result.read)
        return {"kind": "function", "of": "mean" if is_loss else "first", "origin": "a stand-in"}

    def object(self, name: str, use: _Use) -> dict[str, Any]:
        self.stands(name, "an object with the attributes that are read")
        self.result.attributes.update(use.attributes)
        return {"kind": "object", "attributes": {a: self.answer(a, below) for a, below in use.attributes.items()}}

    def many(self, name: str, use: _Use) -> dict[str, Any]:
        element = use.element
        assert element is not None
        self.stands(name, "batches that are on the host already")
        inside = element.items
        if inside and all(isinstance(key, int) for key in inside):
            parts = [inside.get(i, _Use(name)) for i in range(max(inside) + 1)]
            return {"kind": "loader", "items": [self.placed(self.thing(part.name, part), part) for part in parts]}
        described = self.thing(element.name, element)
        if described["kind"] == "dict":
            described["items"] = {
                key: self.placed(item, element.items[key]) for key, item in described["items"].items()
            }
        return {"kind": "loader", "items": [self.placed(described, element)]}

    def finish(self, unit: Unit) -> None:
        """The trials: ranks and last dimensions, from the numbers that the code names, then the usual ones."""
        numbers = sorted(
            {
                n.value
                for n in ast.walk(unit.tree)
                if isinstance(n, ast.Constant) and type(n.value) is int and 4 <= n.value <= 8192
            }
        )
        widths: list[Any] = ["D", *numbers[:6]]
        trials = []
        for labels in ("int64", "float"):
            for width in widths:
                for pattern in ("BD", "BTD", "BHTD", "BCSS", "D", "TD", ""):
                    for flag in (True, False) if self.flags else (False,):
                        trials.append({"pattern": pattern, "width": width, "labels": labels, "flag": flag})
        uses_labels = '"labels"' in repr(self.result).replace("'", '"')
        if not uses_labels:
            trials = [trial for trial in trials if trial["labels"] == "int64"]
        self.result.trials = trials[:MAX_TRIALS]


def _is_device(name: str, use: _Use) -> bool:
    return name.lower() in ("device", "dev") or (
        "device" in use.marks and not use.attributes and "passed" not in use.marks
    )


def _number(name: str) -> dict[str, Any]:
    for pattern, value in _VALUES.items():
        if re.fullmatch(pattern, name):
            return {"kind": "symbol" if isinstance(value, str) else "number", "value": value}
    return {"kind": "number", "value": 4}
