"""What code does with its parameters, and with what it reads of its module.

A walk over a function, and over those of the file that it calls, collects what is done with each parameter, its
attributes, items and elements: which are read and called, what is computed with them, what they are passed to.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torchlint.verify.allowed import NAMES
from torchlint.verify.extract import Unit

__all__ = ["CRITERIA", "PASSING", "TENSORS", "Parameter", "Use", "Walk", "last_name", "parameters_of"]

# Methods that give back the same thing, moved or cast.
PASSING = frozenset(
    "to cuda cpu detach float half bfloat16 double contiguous requires_grad_ clone pin_memory long int squeeze".split()
)
TENSORS = frozenset(
    """
    shape size dim ndim view reshape item tolist numpy mean sum permute transpose dtype device unsqueeze max min
    argmax argmin pow abs sqrt exp log clamp expand masked_fill flatten T mT numel backward grad requires_grad
    new_zeros new_ones new_full norm chunk split repeat copy_ add_ mul_ sub_ div_ fill_ zero_ is_cuda gather scatter
    index_select nonzero any all var std softmax sigmoid tanh relu topk sort cumsum isnan isfinite isinf
    masked_select stride element_size narrow unbind eq ne lt gt le ge where square bool new_empty new_tensor type
    data grad_fn is_leaf layout nbytes retain_grad register_hook type_as uniform_ normal_ exponential_ int
    """.split()
) | frozenset(NAMES["torch"].split())
CRITERIA = re.compile(r"crit|loss|objective")
_FACTORIES = frozenset("empty zeros ones full randn rand randint arange eye".split())  # they take sizes
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


class Use:
    """What is done with one thing: a parameter, an attribute or element of one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.attributes: dict[str, Use] = {}
        self.items: dict[Any, Use] = {}
        self.element: Use | None = None
        self.result: Use | None = None
        self.marks: set[str] = set()
        self.rank: int | None = None
        self.texts: list[str] = []
        self.maker = ""  # the last part of the name of what made it

    def attribute(self, name: str) -> Use:
        return self.attributes.setdefault(name, Use(name))

    def item(self, key: Any) -> Use:
        return self.items.setdefault(key, Use(key if isinstance(key, str) else self.name))

    def each(self) -> Use:
        if self.element is None:
            self.element = Use(self.name)
        return self.element

    def called(self) -> Use:
        if self.result is None:
            self.result = Use(f"{self.name}()")
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


def last_name(node: ast.expr) -> str:
    """The last part of a called name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class Walk:
    """Follows the uses of parameters through a function, and through the functions of the file that it calls."""

    def __init__(self, unit: Unit) -> None:
        self.functions = {n.name: n for n in unit.tree.body if isinstance(n, ast.FunctionDef)}
        self.classes = {n.name: n for n in unit.tree.body if isinstance(n, ast.ClassDef)}
        self.globals = {name: Use(name) for name in unit.free}
        self.compared: list[tuple[Use, list[Use], bool]] = []  # what comparisons give, of what, and if by equality
        self.active: list[ast.AST] = []
        self.owner: ast.ClassDef | None = None  # whose methods `self` has

    def function(self, function: ast.FunctionDef, given: dict[str, Use]) -> Use | None:
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
    def __init__(self, walk: Walk, names: dict[str, Use]) -> None:
        self.walk = walk
        self.names = names
        self.returned: Use | None = None
        self.owner = walk.owner

    # -- expressions give the thing they stand for, or None

    def of(self, node: ast.AST | None) -> Use | None:
        if node is None:
            return None
        method = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if method is not None:
            return method(node)  # type: ignore[no-any-return]
        for child in ast.iter_child_nodes(node):
            self.of(child)
        return None

    def of_name(self, node: ast.Name) -> Use | None:
        return self.names.get(node.id)

    def of_attribute(self, node: ast.Attribute) -> Use | None:
        base = self.of(node.value)
        return base.attribute(node.attr) if base is not None else None

    def of_subscript(self, node: ast.Subscript) -> Use | None:
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

    def of_binop(self, node: ast.BinOp) -> Use | None:
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

    def of_tuple(self, node: ast.Tuple) -> Use | None:
        together = Use("together")
        together.items = {index: self.of(part) or Use("item") for index, part in enumerate(node.elts)}
        return together

    def of_unaryop(self, node: ast.UnaryOp) -> Use | None:
        if isinstance(node.op, ast.Not):
            self.tested(node.operand)
            return None
        return self.of(node.operand)

    def of_boolop(self, node: ast.BoolOp) -> Use | None:
        for value in node.values:
            self.tested(value)
        return None

    def of_compare(self, node: ast.Compare) -> Use | None:
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
        result = Use("compared")
        equal = isinstance(node.ops[0], (ast.Eq, ast.NotEq))
        self.walk.compared.append((result, [use for use in uses if use is not None], equal))
        return result

    def of_ifexp(self, node: ast.IfExp) -> Use | None:
        self.tested(node.test)
        body, otherwise = self.of(node.body), self.of(node.orelse)
        return body or otherwise

    def of_namedexpr(self, node: ast.NamedExpr) -> Use | None:
        use = self.of(node.value)
        if use is not None:
            self.names[node.target.id] = use
        return use

    def of_lambda(self, node: ast.Lambda) -> Use | None:
        return None

    def comprehension(self, node: ast.AST) -> Use | None:
        for generator in node.generators:  # type: ignore[attr-defined]
            self.bind(generator.target, self.iterate(generator.iter))
            for test in generator.ifs:
                self.tested(test)
        for part in ("elt", "key", "value"):
            self.of(getattr(node, part, None))
        return None

    of_listcomp = of_setcomp = of_generatorexp = comprehension

    def of_dictcomp(self, node: ast.DictComp) -> Use | None:
        """A dictionary made of another's items, moved or cast, is read as that one is."""
        self.comprehension(node)
        over = node.generators[0].iter
        items = isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "items"
        return self.of(over.func.value) if items else None  # type: ignore[attr-defined]

    def of_call(self, node: ast.Call) -> Use | None:
        arguments = [self.of(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        keywords = {k.arg: self.of(k.value) for k in node.keywords}
        if None in keywords and keywords[None] is not None:
            keywords[None].marks.add("mapping")  # type: ignore[union-attr]
        for given, use in zip(node.args, arguments, strict=True):
            if isinstance(given, ast.Starred) and use is not None:
                use.marks.add("sizes" if last_name(node.func) in _FACTORIES else "several")
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
                self.walk.function(init, _bound(init, [Use("self"), *arguments], keywords))
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

    def loader(self, name: str, arguments: Sequence[Use | None]) -> Use | None:
        """What a DataLoader gives is told by what is done with its batches: the dataset stands for them."""
        if name != "DataLoader" or not arguments or arguments[0] is None:
            return None
        arguments[0].marks.discard("size")
        arguments[0].marks.add("dataset")
        return arguments[0]

    def method(
        self, base: Use, name: str, node: ast.Call, arguments: list[Use | None], keywords: Mapping[Any, Use | None]
    ) -> Use | None:
        if base.name == "self" and self.owner is not None:
            own = self.walk.methods(self.owner).get(name)
            if own is not None:
                return self.walk.function(own, _bound(own, [base, *arguments], keywords))
        made = self.walk.classes.get(base.attribute(name).maker) if name in base.attributes else None
        if made is not None:  # an object of a class of the file is called: its own method says what with
            own = self.walk.methods(made).get("forward") or self.walk.methods(made).get("__call__")
            if own is not None:
                before, self.walk.owner = self.walk.owner, made
                given = self.walk.function(own, _bound(own, [Use("self"), *arguments], keywords))
                self.walk.owner = before
                return given
        if name in base.attributes and arguments and arguments[0] is not None:
            if (taken := _TAKEN.get(base.attributes[name].maker)) is not None:
                arguments[0].marks.add(taken)
        if name in PASSING:
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

    def passed(self, arguments: Sequence[Use | None], to: Use) -> None:
        """Arguments of a call of something unknown."""
        self.judged(to.name, arguments)
        for argument in arguments:
            if argument is not None:
                argument.marks.add("passed")

    def judged(self, name: str, arguments: Sequence[Use | None]) -> None:
        """What a criterion takes second are labels, unless torch says by its name what they are."""
        if CRITERIA.search(name) and name not in _MARKS and len(arguments) > 1 and arguments[1] is not None:
            arguments[1].marks.add("compared-with")

    def mark(self, name: str, arguments: Sequence[Use | None]) -> None:
        otherwise = "size" if name in _FACTORIES or name[:1].isupper() else "passed"
        for position, argument in enumerate(arguments):
            if argument is not None:
                argument.marks.add(_MARKS.get(name, {}).get(position, otherwise))

    # -- statements

    def iterate(self, node: ast.AST) -> Use | None:
        """What one round of a loop over `node` gets."""
        if isinstance(node, ast.Call):
            head = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if head == "enumerate" and node.args:
                pair = Use("pair")
                pair.items = {0: Use("index"), 1: self.iterate(node.args[0]) or Use("item")}
                return pair
            if head == "zip":
                pair = Use("pair")
                pair.items = {i: self.iterate(a) or Use("item") for i, a in enumerate(node.args)}
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

    def bind(self, target: ast.AST, use: Use | None) -> None:
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
                owner.attributes[target.attr].maker = last_name(value.func)

    def shaped(self, node: ast.AST) -> Use | None:
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

    def visit_test(self, node: ast.If | ast.While) -> None:
        self.tested(node.test)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    visit_If = visit_While = visit_test  # noqa: N815

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
class Parameter:
    name: str
    default: ast.expr | None
    annotation: ast.expr | None


def parameters_of(function: ast.FunctionDef) -> list[Parameter]:
    """Positional parameters, and then keyword parameters without a default."""
    arguments = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(arguments) - len(function.args.defaults))
    named = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [
        *(Parameter(a.arg, d, a.annotation)
          for a, d in zip(arguments, [*defaults, *function.args.defaults], strict=True)),
        *(Parameter(a.arg, None, a.annotation) for a, default in named if default is None),
    ]  # fmt: skip


def _bound(
    function: ast.FunctionDef, arguments: Sequence[Use | None], keywords: Mapping[Any, Use | None]
) -> dict[str, Use]:
    names = [parameter.name for parameter in parameters_of(function)]
    given = {name: use for name, use in zip(names, arguments, strict=False) if use is not None}
    given.update({name: use for name, use in keywords.items() if name in names and use is not None})
    return given
