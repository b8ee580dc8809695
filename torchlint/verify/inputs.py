"""What to call a piece of code with: descriptions of its arguments, from hints and from how the code uses them.

A walk over the code collects what is done with each parameter, its attributes, items and elements; from that, from
annotations, defaults and the literals with which the file makes its objects each gets a description that the worker can
build (`standins.Builder`). What the code does not tell, the size of a last dimension or the rank of a tensor, is left
open, and the worker tries values until the code accepts them (`search.py`). Nothing is guessed in silence: each
description says where it comes from.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.verify.allowed import ATTRIBUTES, NAMES, REFUSED_ATTRIBUTES
from torchlint.verify.extract import Unit
from torchlint.verify.told import Told, refined

__all__ = ["HintError", "Needs", "descriptions", "hints", "needs", "sizes"]

# What the symbols of shapes stand for: batch, time, width, heads, channels, side of an image; steps of a loop; samples.
_SIZES: Mapping[str, Mapping[str, int]] = {
    "large": {"B": 256, "T": 2048, "D": 1024, "H": 16, "C": 3, "S": 224, "steps": 50, "N": 2048},
    "medium": {"B": 64, "T": 512, "D": 512, "H": 8, "C": 3, "S": 64, "steps": 30, "N": 512},
    "modest": {"B": 16, "T": 64, "D": 128, "H": 4, "C": 3, "S": 32, "steps": 10, "N": 128},
    "brief": {"B": 16, "T": 64, "D": 128, "H": 4, "C": 3, "S": 32, "steps": 5, "N": 40},
    "small": {"B": 4, "T": 6, "D": 16, "H": 2, "C": 3, "S": 12, "steps": 5, "N": 20},  # none equals another
}
CLASSES, VOCABULARY = 10, 1000
_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
_HINT = re.compile(r"#\s*torchlint:\s*input\s+(?P<rest>.*)")
_ONE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>\S.*?)\s*$")
MAX_SAID = 60  # characters of a hint in a message
MAX_DIGITS = 12  # of a size
_TENSOR = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d,\s]*)\]")

# Methods that give back the same thing, moved or cast.
_PASS = frozenset(
    "to cuda cpu detach float half bfloat16 double contiguous requires_grad_ clone pin_memory long int squeeze".split()
)
_MODULE = frozenset("parameters named_parameters train eval state_dict load_state_dict modules named_modules children "
                    "buffers named_buffers apply requires_grad_ register_forward_hook".split())  # fmt: skip
_WRITING = frozenset("add_scalar add_scalars add_histogram log_metrics".split())
_DISTRIBUTION = frozenset("log_prob rsample entropy cdf icdf".split())
_DISTRIBUTIONS = re.compile(r"(^|_)(d|p|q|pi|dist|distribution|prior|posterior|normal)$")
_OF_DISTRIBUTION = frozenset("sample mean mode stddev variance loc scale batch_shape event_shape".split())
_OPTIMIZER = frozenset("step zero_grad param_groups state add_param_group".split())
_SCALER = frozenset("unscale_ update".split())
_TENSORS = frozenset(
    """
    shape size dim ndim view reshape item tolist numpy mean sum permute transpose dtype device unsqueeze max min
    argmax argmin pow abs sqrt exp log clamp expand masked_fill flatten T mT numel backward grad requires_grad
    new_zeros new_ones new_full norm chunk split repeat copy_ add_ mul_ sub_ div_ fill_ zero_ is_cuda gather scatter
    index_select nonzero any all var std softmax sigmoid tanh relu topk sort cumsum isnan isfinite isinf
    masked_select stride element_size narrow unbind eq ne lt gt le ge where square bool new_empty new_tensor type
    data grad_fn is_leaf layout nbytes retain_grad register_hook type_as uniform_ normal_ exponential_ int
    """.split()
) | frozenset(NAMES["torch"].split())
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


class HintError(ValueError):
    """A hint that cannot be read; the text says which and why."""


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
                    f"line {row}: an input hint reads name=dtype[sizes] or name=number, not '{part.strip()[:MAX_SAID]}'"
                )
            found[one["name"]] = {**_hinted(one["value"], row), "origin": f"hint in line {row}"}
    return found


def _hinted(text: str, row: int) -> dict[str, Any]:
    said = f"{text[:MAX_SAID]}…" if len(text) > MAX_SAID else text
    tensor = _TENSOR.fullmatch(text)
    if tensor is not None:
        dtype = _DTYPES.get(tensor["dtype"], tensor["dtype"])
        if dtype not in _DTYPES.values():
            raise HintError(f"line {row}: no dtype is called '{tensor['dtype'][:MAX_SAID]}'")
        sizes = tensor["shape"].replace(",", " ").split()
        if any(len(size) > MAX_DIGITS for size in sizes):
            raise HintError(f"line {row}: no tensor is as large as '{said}'")
        return {"kind": "tensor", "dtype": dtype, "shape": [int(size) for size in sizes]}
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise HintError(f"line {row}: '{said}' is neither a tensor such as f32[8,16] nor a literal") from error
    if not _is_plain(value):
        raise HintError(f"line {row}: '{said}' is no number, text, or list or dictionary of them")
    return {"kind": "number", "value": value}


def _is_plain(value: Any, depth: int = 8) -> bool:
    """Whether JSON can say it: it travels in a plan."""
    if isinstance(value, (list, tuple)):
        return depth > 0 and all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, dict):
        plain = all(isinstance(key, str) and _is_plain(item, depth - 1) for key, item in value.items())
        return depth > 0 and plain
    if isinstance(value, int):
        return value.bit_length() < 64
    return value is None or isinstance(value, str) or (isinstance(value, float) and math.isfinite(value))


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
        self.maker = ""  # the last part of the name of what made it

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

    def reached(self) -> set[str]:
        """The attributes that are read of it, and of all that is reached from it."""
        found: set[str] = set()
        todo, seen = [self], set()
        while todo:
            use = todo.pop()
            if id(use) not in seen:
                seen.add(id(use))
                found |= use.read
                todo += [*use.attributes.values(), *use.items.values(), *filter(None, (use.element, use.result))]
        return found


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
    "index_add": {1: "index"},
    "index_add_": {1: "index"},
    "index_select": {1: "index"},
    "index_copy_": {1: "index"},
    "gather": {1: "index"},
    "scatter_": {1: "index"},
    "scatter_add_": {1: "index"},
    "bincount": {0: "label"},
    "from_numpy": {0: "array"},
    **{name: {0: "tensors"} for name in "cat stack concat hstack vstack pad_sequence".split()},
    "range": {0: "number", 1: "number", 2: "number"},
    "manual_seed": {0: "number"},
    "add_scalar": {1: "scalar"},
    "kl_divergence": {0: "distribution", 1: "distribution"},
    "split": {},
    "float": {0: "scalar"},
}


# What layers take, by what made them.
_TAKEN = {
    "Embedding": "token", "EmbeddingBag": "token",
    **dict.fromkeys(("Linear", "LayerNorm", "RMSNorm", "Bilinear"), "rows"),
    **dict.fromkeys(("Conv2d", "ConvTranspose2d", "BatchNorm2d", "MaxPool2d"), "image"),
    **dict.fromkeys(("LSTM", "GRU", "RNN", "TransformerEncoder", "TransformerEncoderLayer", "Conv1d"), "sequence"),
}  # fmt: skip


def _head(node: ast.expr) -> str:
    """The last part of a called name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class _Walk:
    """Follows the uses of parameters through a function, and through the functions of the file that it calls."""

    def __init__(self, unit: Unit) -> None:
        self.functions = {n.name: n for n in unit.tree.body if isinstance(n, ast.FunctionDef)}
        self.classes = {n.name: n for n in unit.tree.body if isinstance(n, ast.ClassDef)}
        self.globals = {name: _Use(name) for name in unit.free}
        self.compared: list[tuple[_Use, list[_Use], bool]] = []  # what comparisons give, of what, and if by equality
        self.active: list[ast.AST] = []
        self.owner: ast.ClassDef | None = None  # whose methods `self` has

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
        self.owner = walk.owner

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
            if isinstance(node.slice.value, int) and (owner := self.shaped(node.value)) is not None:
                owner.rank = max(owner.rank or 0, node.slice.value + 1, 2) if node.slice.value else owner.rank
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for index in map(self.of, parts):
            if index is not None:
                index.marks.add("index")
        if base is not None:
            base.marks.add("sliced")
            if isinstance(node.slice, ast.Tuple) and not any(
                isinstance(e, ast.Constant) and e.value in (None, ...) for e in node.slice.elts
            ):
                base.rank = max(base.rank or 0, len(node.slice.elts))
            if not isinstance(node.slice, (ast.Tuple, ast.Slice, ast.Constant)):
                return base.each()
        return None

    def of_binop(self, node: ast.BinOp) -> _Use | None:
        """What is done with a sum or a product is done with its first operand as well."""
        sides = self.of(node.left), self.of(node.right)
        for use in sides:
            if use is not None:
                use.marks.add(
                    "matmul"
                    if isinstance(node.op, ast.MatMult)
                    else "modulo"
                    if isinstance(node.op, ast.Mod)
                    else "operand"
                )
        if isinstance(node.op, (ast.Mod, ast.FloorDiv)):
            return None
        return sides[1] if isinstance(node.left, (ast.Constant, ast.UnaryOp)) else sides[0]

    def of_tuple(self, node: ast.Tuple) -> _Use | None:
        together = _Use("together")
        together.items = {index: self.of(part) or _Use("item") for index, part in enumerate(node.elts)}
        return together

    def of_unaryop(self, node: ast.UnaryOp) -> _Use | None:
        if isinstance(node.op, ast.Not):
            self.tested(node.operand)
            return None
        return self.of(node.operand)

    def of_boolop(self, node: ast.BoolOp) -> _Use | None:
        for value in node.values:
            self.tested(value)
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
        if not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            return None
        result = _Use("compared")
        equal = isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        self.walk.compared.append((result, [use for use in uses if use is not None], equal))
        return result

    def of_ifexp(self, node: ast.IfExp) -> _Use | None:
        self.tested(node.test)
        body, otherwise = self.of(node.body), self.of(node.orelse)
        return body or otherwise

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

    of_listcomp = of_setcomp = of_generatorexp = comprehension

    def of_dictcomp(self, node: ast.DictComp) -> _Use | None:
        """A dictionary made of another's items, moved or cast, is read as that one is."""
        self.comprehension(node)
        over = node.generators[0].iter
        items = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "items"
        return self.of(over.func.value) if items else None  # type: ignore[attr-defined]

    def of_call(self, node: ast.Call) -> _Use | None:
        arguments = [self.of(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        keywords = {k.arg: self.of(k.value) for k in node.keywords}
        if None in keywords and keywords[None] is not None:
            keywords[None].marks.add("mapping")  # type: ignore[union-attr]
        for given, use in zip(node.args, arguments, strict=True):
            if isinstance(given, ast.Starred) and use is not None:
                use.marks.add("sizes" if _head(node.func) in _FACTORIES else "several")
        if keywords.get("device") is not None:
            keywords["device"].marks.add("device")  # type: ignore[union-attr]
        if isinstance(node.func, ast.Attribute):
            base = self.of(node.func.value)
            name = node.func.attr
            if base is not None:
                return self.method(base, name, node, arguments, keywords)
            self.mark(name, arguments)
            self.judged(name, arguments)
            if isinstance(node.func.value, ast.Name) and node.func.value.id in ("np", "numpy"):
                for argument in filter(None, arguments):
                    argument.marks.add("numpy")
            return self.loader(name, arguments)
        if isinstance(node.func, ast.Name):
            own = self.walk.functions.get(node.func.id)
            if own is not None:
                return self.walk.function(own, _bound(own, arguments, keywords))
            made = self.walk.classes.get(node.func.id)
            if made is not None and (init := self.walk.methods(made).get("__init__")) is not None:
                self.walk.function(init, _bound(init, [_Use("self"), *arguments], keywords))
                return None
            if node.func.id in ("isinstance", "issubclass") and len(arguments) > 1 and arguments[1] is not None:
                arguments[1].marks.add("class")
                return None
            if node.func.id in ("getattr", "hasattr") and len(node.args) > 1 and arguments[0] is not None:
                if isinstance(node.args[1], ast.Constant) and isinstance(node.args[1].value, str):
                    return arguments[0].attribute(node.args[1].value)
            called = self.names.get(node.func.id)
            if called is None:
                self.mark(node.func.id, arguments)
                self.judged(node.func.id, arguments)
                if node.func.id in ("iter", "list", "tuple", "reversed", "tqdm", "track") and arguments:
                    return arguments[0]
                if node.func.id == "next" and arguments and arguments[0] is not None:
                    arguments[0].marks.add("iterated")
                    return arguments[0].each()
                return self.loader(node.func.id, arguments)
            called.marks.add("called")
            self.passed(arguments, called)
            return called.called()
        called = self.of(node.func)
        if called is not None:
            called.marks.add("called")
            return called.called()
        return None

    def loader(self, name: str, arguments: Sequence[_Use | None]) -> _Use | None:
        """What a DataLoader gives is told by what is done with its batches: the dataset stands for them."""
        if name != "DataLoader" or not arguments or arguments[0] is None:
            return None
        arguments[0].marks.discard("size")
        arguments[0].marks.add("dataset")
        return arguments[0]

    def method(
        self, base: _Use, name: str, node: ast.Call, arguments: list[_Use | None], keywords: Mapping[Any, _Use | None]
    ) -> _Use | None:
        if base.name == "self" and self.owner is not None:
            own = self.walk.methods(self.owner).get(name)
            if own is not None:
                return self.walk.function(own, _bound(own, [base, *arguments], keywords))
        made = self.walk.classes.get(base.attribute(name).maker) if name in base.attributes else None
        if made is not None:  # an object of a class of the file is called: its own method says what with
            own = self.walk.methods(made).get("forward") or self.walk.methods(made).get("__call__")
            if own is not None:
                before, self.walk.owner = self.walk.owner, made
                given = self.walk.function(own, _bound(own, [_Use("self"), *arguments], keywords))
                self.walk.owner = before
                return given
        if name in base.attributes and arguments and arguments[0] is not None:
            if (taken := _TAKEN.get(base.attributes[name].maker)) is not None:
                arguments[0].marks.add(taken)
        if name in _PASS:
            if name in ("to", "cuda") and arguments and arguments[0] is not None and not arguments[0].attributes:
                arguments[0].marks.add("device")
            base.attribute(name)
            if name == "long":
                base.marks.add("label")
            return base
        if name == "item":
            base.marks.add("scalar")
        if name == "scale" and arguments and arguments[0] is not None:
            arguments[0].marks.add("loss")
        if name in ("permute",) and len(node.args) > 1:
            base.rank = len(node.args)
        if name in ("transpose", "swapaxes", "flatten"):
            axes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, int)]
            base.rank = max(base.rank or 0, max((a + 1 if a >= 0 else -a for a in axes), default=0)) or base.rank
        if name in ("view", "reshape", "expand", "size", "masked_fill", "mul", "add"):
            for argument in arguments:
                if argument is not None and name in ("view", "reshape", "expand", "size"):
                    argument.marks.add("number")
        attribute = base.attribute(name)
        attribute.marks.add("called")
        if name in ("eval", "train"):
            return base
        if name in _MARKS:
            self.mark(name, arguments)
        self.passed(arguments, attribute)
        if name == "items" and not node.args:
            base.marks.add("mapping")
        return attribute.called()

    def passed(self, arguments: Sequence[_Use | None], to: _Use) -> None:
        """Arguments of a call of something unknown."""
        self.judged(to.name, arguments)
        for argument in arguments:
            if argument is not None:
                argument.marks.add("passed")

    def judged(self, name: str, arguments: Sequence[_Use | None]) -> None:
        """What a criterion takes second are labels, unless torch says by its name what they are."""
        if _CRITERIA.search(name) and name not in _MARKS and len(arguments) > 1 and arguments[1] is not None:
            arguments[1].marks.add("compared-with")

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
                base.attribute(target.attr).marks.add("made")
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
                        self.made(part, value)
                    continue
                self.bind(target, ranked)
            else:
                self.bind(target, self.of(node.value))
                self.made(target, node.value)

    def made(self, target: ast.AST, value: ast.expr) -> None:
        """Note what an attribute was made by."""
        if isinstance(target, ast.Attribute) and isinstance(value, ast.Call):
            owner = self.of(target.value)
            if owner is not None and target.attr in owner.attributes:
                owner.attributes[target.attr].maker = _head(value.func)

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
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.In, ast.NotIn, ast.Is, ast.IsNot)):
            for side in (node.left, *node.comparators):  # a tensor that is tested has one element
                if isinstance(side, (ast.Name, ast.Attribute, ast.BinOp)) and (of := self.of(side)) is not None:
                    of.marks.add("scalar")

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


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    default: ast.expr | None
    annotation: ast.expr | None


def _parameters(function: ast.FunctionDef) -> list[_Parameter]:
    """Positional parameters, and then keyword parameters without a default."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(function.args.defaults))
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [
        *(_Parameter(a.arg, d, a.annotation)
          for a, d in zip(arguments, [*defaults, *function.args.defaults], strict=True)),
        *(_Parameter(a.arg, None, a.annotation) for a, default in named if default is None),
    ]  # fmt: skip


def _bound(
    function: ast.FunctionDef, arguments: Sequence[_Use | None], keywords: Mapping[Any, _Use | None]
) -> dict[str, _Use]:
    names = [parameter.name for parameter in _parameters(function)]
    given = {name: use for name, use in zip(names, arguments, strict=False) if use is not None}
    given.update({name: use for name, use in keywords.items() if name in names and use is not None})
    return given


# -- descriptions ------------------------------------------------------------------------------------------------------


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
    walk = _Walk(unit)
    walk.globals.update({name: _Use(name) for name in foreign or ()})
    made = _Describe(hinted, walk, ast.parse(text), compiled=compiled, known=known or {})
    made.pinned, made.selecting, made.hosted = pinned, selecting, hosted
    made.grads = ".grad" in unit.source and "backward(" not in unit.source
    parameters = _parameters(unit.function)
    uses = {parameter.name: _Use(parameter.name) for parameter in parameters}
    if unit.owner is not None and not _is_static(unit.function):
        this = uses[parameters[0].name] = _Use("self")
        made.own(parameters[0].name, unit.owner, this, unit.function)
    walk.owner = unit.owner
    walk.function(unit.function, uses)
    for result, sides, equal in walk.compared:
        if result.marks & {"index", "sliced", "operand"} or result.read & _TENSORS:
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
        walk: _Walk,
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
        self.built: dict[str, _Use] = {}  # what the receiver's constructor takes
        self.making: list[str] = []  # classes whose objects are being described
        self.literal_numbers: set[int] = set()  # with which the file makes its objects

    # -- from the text

    def value(
        self,
        parameter: _Parameter,
        use: _Use,
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

    def annotated(self, name: str, node: ast.expr | None, use: _Use) -> dict[str, Any] | None:
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
        said = _annotation(node)
        if said is not None:
            return {**said, "origin": "its annotation"}
        last = _head(node)
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

    def literals(self, owner: ast.ClassDef, parameters: Sequence[_Parameter]) -> dict[str, tuple[Any, int]]:
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

    def own(self, name: str, owner: ast.ClassDef, this: _Use, entry: ast.FunctionDef) -> None:
        """The receiver: what its constructor does, and what other methods do with what that was given."""
        walk, init = self.walk, self.walk.methods(owner).get("__init__")
        walk.owner = owner
        if init is not None:
            self.built = {parameter.name: _Use(parameter.name) for parameter in _parameters(init)[1:]}
            walk.function(init, {_parameters(init)[0].name: this, **self.built})
        for other, method in walk.methods(owner).items():
            if other != "__init__" and method is not entry and _parameters(method):
                walk.function(method, {_parameters(method)[0].name: this})
        self.receiver = name

    def finish_own(self, owner: ast.ClassDef) -> None:
        made = self.construct(owner, self.built)
        if self.compiled:
            made["compiled"] = True
        self.result.arguments.append({"name": self.receiver, **made, "origin": f"made of class {owner.name}"})

    def construct(self, owner: ast.ClassDef, uses: Mapping[str, _Use]) -> dict[str, Any]:
        init = self.walk.methods(owner).get("__init__")
        parameters = _parameters(init)[1:] if init is not None else _fields(owner)
        if init is None and any(_OPTIMIZERS.search(_head(base)) for base in owner.bases):
            return {"kind": "own", "path": owner.name, "kwargs": {"params": {"kind": "parameters"}, "lr": 0.01}}
        known = self.literals(owner, parameters)
        kwargs = {
            p.name: {"name": p.name, **self.value(p, uses.get(p.name, _Use(p.name)), f"{owner.name}.__init__", known)}
            for p in parameters
        }
        return {"kind": "own", "path": owner.name, "kwargs": kwargs}

    def object_of(self, name: str, use: _Use) -> dict[str, Any]:
        """Something that is an object of a class of the file."""
        if name in self.making:
            return {"kind": "number", "value": None}
        owner = self.walk.classes[name]
        init = self.walk.methods(owner).get("__init__")
        uses: dict[str, _Use] = {}
        if init is not None and _parameters(init):
            uses = {parameter.name: _Use(parameter.name) for parameter in _parameters(init)[1:]}
            before, self.walk.owner = self.walk.owner, owner
            self.walk.function(init, {_parameters(init)[0].name: _Use("self"), **uses})
            self.walk.owner = before
        self.making.append(name)
        try:
            return self.construct(owner, uses)
        finally:
            self.making.pop()

    def class_of(self, use: _Use) -> str | None:
        """The one class of the file that has the methods which are called, if there is one."""
        called = {name for name, below in use.attributes.items() if "called" in below.marks} - _TENSORS - _PASS
        fitting = [
            name for name, owner in self.walk.classes.items() if called and called <= set(self.walk.methods(owner))
        ]
        return fitting[0] if len(fitting) == 1 and fitting[0] not in self.making else None

    # -- from the uses

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
            read & (_MODULE - ({"requires_grad_"} if read & _TENSORS else set()))
            or ("called" in use.marks and not _CRITERIA.search(low))
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
        if "tensors" in use.marks and not read & _TENSORS and not use.items:
            return {"kind": "list", "item": self.tensor(name, use.element or use)}
        if "dataset" in use.marks:
            if use.element is None:
                use.each()
            self.stands(name, "a dataset of samples that are made already")
            return {**self.many(name, use, said=False), "kind": "dataset"}
        if use.items and all(isinstance(key, str) for key in use.items):
            return {"kind": "dict", "items": {key: self.thing(key, item) for key, item in use.items.items()}}
        if "iterated" in use.marks and use.element is not None and not read & _TENSORS:
            many = self.many(name, use)
            if not use.element.items and len(many["items"]) == 1 and many["items"][0]["kind"] == "tensor":
                return {"kind": "choice", "of": [many, self.tensor(name, use)]}  # batches, or the rows of a tensor
            return many
        if use.items and "sliced" in use.marks and not any(item.read - _TENSORS for item in use.items.values()):
            return self.tensor(name, use)  # its rows have names: row, column = edges
        if use.items:
            return {
                "kind": "tuple",
                "items": [self.thing(f"{name}{i}", use.items.get(i, _Use(name))) for i in range(max(use.items) + 1)],
            }
        if (of := self.class_of(use)) is not None:
            return {**self.object_of(of, use), "origin": f"made of class {of}, which has its methods"}
        foreign = {attribute for attribute in read - _TENSORS - _PASS if not attribute.endswith("_")}
        if foreign and not read & {"shape", "backward", "item", "view", "reshape"}:
            return self.object(name, use)
        if not read and use.marks <= {"tested"} and "tested" in use.marks:
            return {"kind": "guess", "value": False, "others": [True]}
        if not read & _TENSORS and ("number" in use.marks or "modulo" in use.marks or _NUMBERS.match(low)):
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

    def foreign(self, name: str, use: _Use) -> dict[str, Any]:
        """What another module defines: a class by its name, an object where attributes are read, else a function."""
        if name in self.hinted:
            return dict(self.hinted[name])
        if "class" in use.marks and "called" not in use.marks:
            return {"kind": "class"}
        if "called" in use.marks:
            given = use.result or _Use(name)
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

    def tensor(self, name: str, use: _Use) -> dict[str, Any]:
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

    def placed(self, described: dict[str, Any], use: _Use) -> dict[str, Any]:
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

    def network(self, name: str, use: _Use) -> dict[str, Any]:
        self.stands(name, "a small network")
        ordinary = _MODULE | _PASS | {"zero_grad", "training", "module", "forward", "to", "double", "register_buffer"}
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

    def gives(self, name: str, use: _Use) -> dict[str, Any]:
        """What a call gives, from what is done with it."""
        if "several" in use.marks and not use.items:  # torch.min(*pair)
            return {"kind": "tuple", "items": [self.gives(f"{name}{i}", _Use(f"{name}{i}")) for i in range(2)]}
        if use.items and all(isinstance(key, str) for key in use.items):
            return {"kind": "dict", "items": {str(key): self.gives(str(key), item) for key, item in use.items.items()}}
        if use.items:
            last = max(key for key in use.items if isinstance(key, int))
            items = [use.items.get(i, _Use(f"{name}{i}")) for i in range(last + 1)]
            return {"kind": "tuple", "items": [self.gives(item.name, item) for item in items]}
        if "mapping" in use.marks:
            return {"kind": "dict", "items": {"value": {"kind": "result", "of": "mean"}}}
        inner = use.element
        if "indexed" in use.marks and inner is not None and (inner.items or inner.read - _TENSORS - _PASS):
            return {"kind": "tuple", "items": [self.gives(name, inner)]}
        fields = {a: below for a, below in use.attributes.items() if a not in _TENSORS | _PASS and not a.endswith("_")}
        if fields and not use.read & {"shape", "backward", "view", "reshape", "dim"}:
            read = {a: below for a, below in use.attributes.items() if a not in _PASS and "called" not in below.marks}
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

    def answer(self, name: str, use: _Use) -> dict[str, Any]:
        """What calling, or reading, an attribute of a stand-in gives."""
        if "called" not in use.marks:
            return self.thing(name, use)
        if _NETWORKS.search(name):
            return self.network(name, use)
        if name in _ANSWERS:
            return {"kind": "function", "gives": _ANSWERS[name], "origin": "a stand-in"}
        given = self.gives(name, use.result or _Use(name))
        if given == {"kind": "result", "of": ""} and (_CRITERIA.search(name) or "loss" in name):
            given = {"kind": "result", "of": "mean"}
        return {"kind": "function", "gives": given, "origin": "a stand-in"}

    def object(self, name: str, use: _Use) -> dict[str, Any]:
        self.stands(name, "an object with the attributes that are read")
        self.result.attributes.update(use.attributes)
        moves = bool(use.read & {"to", "cuda"})
        attributes = {a: self.answer(a, below) for a, below in use.attributes.items() if not (moves and a in _PASS)}
        if moves:
            attributes.setdefault("x", {"kind": "tensor", "dtype": "float"})
        return {"kind": "object", "moves": moves, "attributes": attributes}

    def many(self, name: str, use: _Use, *, said: bool = True) -> dict[str, Any]:
        element = use.element
        assert element is not None
        if said:
            self.stands(name, "batches that are on the host already")
        inside = element.items
        if inside and all(isinstance(key, int) for key in inside):
            parts = [inside.get(i, _Use(name)) for i in range(max(inside) + 1)]
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
# jaxtyping's names, and the dtype that each stands for.
_JAXTYPES = {
    "Float": "float", "Float16": "float16", "BFloat16": "bfloat16", "Float32": "float32", "Float64": "float64",
    "Int": "int64", "Int32": "int32", "Int64": "int64", "Integer": "int64", "UInt8": "uint8", "Bool": "bool",
    "Num": "float", "Real": "float", "Inexact": "float", "Shaped": "float",
}  # fmt: skip
_AXES = {  # names of axes, and the sizes they have here
    r"b|bs|batch(_size)?|n|num_.*": "B",
    r"t|s|l|q|k|seq(_len)?|time|length|tokens?|src|tgt|steps?": "T",
    r"h|heads?|n_heads?|num_heads": "H",
    r"h(eight)?|w(idth)?|x|y": "S",
    r"c|ch|channels?": "C",
}


def _annotation(node: ast.expr) -> dict[str, Any] | None:
    """A tensor with its shape, from `Float[Tensor, "batch time 64"]`, or a list of tensors."""
    if not isinstance(node, ast.Subscript):
        return None
    head = _head(node.value)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if head in _JAXTYPES and len(parts) == 2 and isinstance(parts[1], ast.Constant):
        return {"kind": "tensor", "dtype": _JAXTYPES[head], "shape": _axes(str(parts[1].value))}
    if head in ("list", "List", "Sequence", "Iterable") and _head(parts[0]) == "Tensor":
        return {"kind": "list", "item": {"kind": "tensor", "dtype": "float"}}
    return None


def _axes(text: str) -> list[Any]:
    """The sizes of axes by name: numbers as they are, the others as symbols."""
    found: list[Any] = []
    for axis in text.split():
        name = axis.lstrip("*#?_").partition("=")[2] or axis.lstrip("*#?_")
        if name.isdigit():
            found.append(int(name))
        elif axis == "...":
            found.append("B")
        else:
            low = name.lower()
            found.append(next((size for pattern, size in _AXES.items() if re.fullmatch(pattern, low)), "D"))
    return found


def _fields(owner: ast.ClassDef) -> list[_Parameter]:
    """The parameters of a data class."""
    if not any("dataclass" in ast.unparse(decorator) for decorator in owner.decorator_list):
        return []
    return [
        _Parameter(child.target.id, child.value, child.annotation)
        for child in owner.body
        if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name)
    ]


def _is_device(name: str, use: _Use) -> bool:
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
