"""What measured code may do: read its syntax tree, refuse what is not on the list.

The rule is an allow-list, not a search for evil: every name must be one of the code's own, a harmless builtin, or a
listed name of a listed module, under its full name (`torch.os` is `os`, and is not listed); every attribute of a value
must be one that tensors, modules, arrays and containers have, or one that the code defines itself. Everything in the
source counts: methods, decorators, defaults, class bodies, annotations. What is left is code that can compute and
print, and can neither reach a file, a process or the network, nor make an object out of an address.

The process that measures is contained besides: see `supervise.py` and `guard.py`. This module needs the
standard library alone (Python 3.9 or later), since it travels with the worker.
"""

from __future__ import annotations

import ast
import builtins
import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torchlint.verify.allowed import ATTRIBUTES, NAMES, REFUSED_ATTRIBUTES
from torchlint.verify.helpers import Recording, helpers
from torchlint.verify.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    Scope,
    declared,
    fields,
    is_private,
    parameters,
    parts_inside,
    parts_outside,
    same_scope,
    settled,
)

__all__ = ["Refusal", "check", "enters", "grants", "knows"]

BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex delattr dict divmod enumerate filter
    float format frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min next object
    oct ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type
    zip True False None Ellipsis NotImplemented __name__ __debug__
    """.split()
) | {
    name for name in dir(builtins) if re.fullmatch(r"\w*(Error|Exception|Warning|Iteration|Group|Exit|Interrupt)", name)
}

# Special methods a class may define. Left out are those by which an object hands out addresses (__array_interface__),
# stands in for another (__class__, __reduce__) or answers to any name (__getattr__).
METHODS = frozenset(
    """
    abs add and bool call ceil complex contains del delitem divmod enter eq exit float floor floordiv format ge getitem
    getnewargs gt hash iadd iand ifloordiv ilshift imatmul imod imul index init int invert ior ipow irshift isub iter
    itruediv ixor le len lshift lt matmul missing mod mul ne neg next or pos post_init pow radd rand rdivmod repr
    reversed rfloordiv rlshift rmatmul rmod rmul ror round rpow rrshift rshift rsub rtruediv rxor setitem str sub
    truediv trunc xor
    """.split()
)
# What may be called on super() and on a class by name.
PARENT_METHODS = frozenset(
    "__init__ __call__ __len__ __getitem__ __setitem__ __iter__ __enter__ __exit__ __post_init__ __contains__".split()
)
BASES = frozenset("torch.utils.data.Dataset torch.utils.data.IterableDataset torch.utils.data.Sampler "
                  "torch.autograd.Function torch.autograd.function.Function torch.optim.Optimizer "
                  "torch.optim.lr_scheduler.LRScheduler typing.NamedTuple typing.Generic typing.Protocol "
                  "typing.TypedDict".split())  # fmt: skip
ENUMS = frozenset(f"enum.{name}" for name in "Enum IntEnum StrEnum Flag IntFlag ReprEnum".split())
PLAIN_BASES = frozenset("object dict list tuple set int float".split())
# Flags of modules that may be set: they hold in the experiment's own process.
SETTABLE = frozenset(
    """
    torch.backends.cudnn.benchmark torch.backends.cudnn.deterministic torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.enabled torch.backends.cuda.matmul.allow_tf32 torch.backends.cuda.matmul.fp32_precision
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction
    """.split()
)
# They copy attributes whose names stand in strings, unless called plainly.
WRAPPERS = frozenset({"functools.wraps", "functools.update_wrapper"})
STANCE = "torch.compiler.set_stance"
NEVER = {
    name: f"{name} is never allowed"
    for name in (
        "eval exec compile __import__ open input globals locals vars dir breakpoint help exit quit memoryview"
    ).split()
}
HELPERS = frozenset(helpers(None, None, Recording()))  # their names: nothing asks for torch before one is called
BACKENDS = ("inductor", "eager", "aot_eager", "cudagraphs")
GRANTED = {
    "torch.compile": "compile",
    "torch.cond": "compile",  # it compiles its branches, as the next does its score function
    "torch.nn.attention.flex_attention.flex_attention": "compile",
    "torch.utils.data.DataLoader": "processes",
}
# Special attributes that are texts, whoever has them.
TEXTS = frozenset(("__name__", "__qualname__"))
# A class that takes addresses where it is called, and is named in annotations and tests of kinds alone.
KIND = "numpy.ndarray"
# What is safe as it is called, which is looked at: it must be known by its name wherever it stands.
WATCHED = frozenset({"torch.compile", STANCE}) | WRAPPERS
CALLED = frozenset("getattr hasattr setattr delattr super type print".split())

_NAMES = {module: frozenset(names.split()) for module, names in NAMES.items()}
# Names of Python's own that mean another thing, or nothing, to code that is checked.
_PYTHONS = frozenset(dir(builtins)) - BUILTINS | CALLED
_ATTRIBUTES = frozenset(ATTRIBUTES.split())
_REFUSED = frozenset(REFUSED_ATTRIBUTES.split())
_SPECIAL = re.compile(r"__\w+__")


@dataclass(frozen=True)
class Refusal:
    """One reason why the code is not run. `row` counts from 1."""

    row: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.row}: {self.reason}"


@dataclass(frozen=True)
class _Thing:
    """What an expression is known to be: a module, a listed name of one, or a builtin."""

    kind: str  # "module", "name", "builtin"; "unlisted" and what is none of them for sure: "unclear", "either", "mixed"
    path: str


def check(
    source: str, allow: Sequence[str] = (), attributes: Sequence[str] = (), names: Iterable[str] = ()
) -> list[Refusal]:
    """Why `source`, a whole module, may not be run; empty when it may.

    Args:
        source: the text of the module.
        allow: modules whose names are all allowed, with what lies below them, as the user said.
        attributes: names that stand-ins among the arguments have.
        names: what the module finds defined: stand-ins for things of its file.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return [Refusal(getattr(error, "lineno", None) or 1, "it does not parse")]
    try:
        return _Checker(tree, allow, attributes, names).run()
    except RecursionError:
        return [Refusal(1, "it is nested too deeply")]


def grants(source: str) -> frozenset[str]:
    """What containment must leave open for `source`: "compile" for torch.compile, "processes" for loader workers."""
    try:
        checker = _Checker(ast.parse(source))
        checker.run()
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    return frozenset(checker.granted)


def enters(source: str, entry: str) -> bool:
    """Whether `entry` names a function of the module, or a method of one of its classes, inherited or not."""
    first, _, method = entry.partition(".")
    found = next((node for node in ast.parse(source).body if getattr(node, "name", None) == first), None)
    if isinstance(found, ast.FunctionDef):
        return not method
    own = isinstance(found, ast.ClassDef) and any(getattr(node, "name", None) == method for node in found.body)
    plain = method.isidentifier() and not method.startswith("_") and method not in _REFUSED
    return isinstance(found, ast.ClassDef) and (own or plain)


def knows(module: str, name: str | None = None, allow: Sequence[str] = ()) -> bool:
    """Whether the module, or a name of it, is on the list."""
    checker = _Checker(ast.Module([], []), allow)
    if name is None:
        return checker.is_module(module)
    return checker.is_module(module) and checker.member(module, name).kind != "unlisted"


class _Checker(ast.NodeVisitor):
    def __init__(
        self, tree: ast.Module, allow: Sequence[str] = (), attributes: Sequence[str] = (), names: Iterable[str] = ()
    ) -> None:
        self.tree = tree
        # A name of Python's own stays what it is, whatever the file binds it to when it runs.
        self.given = frozenset((*HELPERS, *names)) - frozenset(dir(builtins))
        self.allow = tuple(unicodedata.normalize("NFKC", module) for module in allow)
        self.refusals: dict[tuple[int, str], Refusal] = {}
        self.granted: set[str] = set()
        self.scopes: dict[ast.AST, Scope] = {}
        self.declared = frozenset((*declared(tree), *attributes))
        self.fields = frozenset(  # what any pattern could read by them, apart from what code defines as its own
            name for name in fields(tree) if name in _REFUSED or name == "compile" or name.startswith("__")
        )
        self.scope = self._scopes(tree, None)
        self.resolving: set[int] = set()
        self.settled = settled(tree)
        self.called: set[ast.expr] = set()  # expressions that stand where they are called
        self.decorators: set[ast.expr] = set()
        self.kinds: set[ast.AST] = set()  # expressions in annotations and tests that name a class and hand it nowhere

    def run(self) -> list[Refusal]:
        for statement in self.tree.body:
            self.visit(statement)
        return sorted(self.refusals.values(), key=lambda refusal: (refusal.row, refusal.reason))

    def refuse(self, node: ast.AST, reason: str) -> None:
        row = getattr(node, "lineno", 1)
        self.refusals[row, reason] = Refusal(row, reason)

    # -- names ---------------------------------------------------------------------------------------------------------

    def _scopes(self, node: ast.AST, parent: Scope | None) -> Scope:
        """Make the scope that `node` opens, and those below it."""
        scope = self.scopes[node] = Scope(node, parent)
        in_class = scope.owner is not None

        def bind(name: str, what: str | ast.expr | None, at: ast.AST) -> None:
            if is_private(name) and in_class and not scope.is_class:
                self.refuse(at, f"the private name {name} is bound inside a class")
            if _SPECIAL.fullmatch(name) and name not in ("__slots__", "__all__", "__constants__"):
                self.refuse(at, f"the special name {name} is bound")
            owner = scope
            if scope.outer.get(name) == "global":
                owner = scope.root
            elif scope.outer.get(name) == "nonlocal" and scope.parent is not None:
                owner = scope.parent.find(name) or scope
            owner.bound.setdefault(name, []).append(what)

        def walk(child: ast.AST) -> None:
            if isinstance(child, (ast.Global, ast.Nonlocal)):
                kind = "global" if isinstance(child, ast.Global) else "nonlocal"
                for name in filter(is_private, child.names if in_class else ()):
                    self.refuse(child, f"the private name {name} is bound inside a class")
                scope.outer.update(dict.fromkeys(child.names, kind))
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    name = alias.asname or alias.name.split(".")[0]
                    bind(name, alias.name if alias.asname else name, child)
            elif isinstance(child, ast.ImportFrom):
                for alias in child.names:
                    bind(alias.asname or alias.name, f"{child.module or ''}.{alias.name}", child)
            elif isinstance(child, (*FUNCTIONS, ast.ClassDef)):
                if not isinstance(child, ast.Lambda):
                    special = isinstance(node, ast.ClassDef) and _SPECIAL.fullmatch(child.name)
                    if special and isinstance(child, ast.FunctionDef):
                        if child.name[2:-2] not in METHODS:
                            self.refuse(child, f"the special method {child.name} is defined")
                        scope.bound.setdefault(child.name, []).append(None)
                    else:
                        bind(child.name, None, child)
                for outside in parts_outside(child):
                    walk(outside)
                self._scopes(child, scope)
                return
            elif isinstance(child, COMPREHENSIONS):
                walk(child.generators[0].iter)
                self._scopes(child, scope)
                return
            elif isinstance(child, ast.Assign) and len(child.targets) == 1 and isinstance(child.targets[0], ast.Name):
                bind(child.targets[0].id, child.value, child)
                walk(child.value)
                return
            elif isinstance(child, ast.NamedExpr):
                target = scope
                while isinstance(target.node, COMPREHENSIONS) and target.parent is not None:
                    target = target.parent
                target.bound.setdefault(child.target.id, []).append(None)
                if _SPECIAL.fullmatch(child.target.id):
                    self.refuse(child, f"the special name {child.target.id} is bound")
            elif isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                bind(child.id, None, child)
            elif isinstance(child, ast.ExceptHandler) and child.name:
                bind(child.name, None, child)
            else:
                pattern = getattr(child, "name", None) or getattr(child, "rest", None)
                if type(child).__name__.startswith("Match") and isinstance(pattern, str):
                    bind(pattern, None, child)
            for below in ast.iter_child_nodes(child):
                walk(below)

        if isinstance(node, FUNCTIONS):
            for argument in parameters(node):
                bind(argument.arg, None, argument)
        # `global` holds for the whole body, wherever it stands.
        for statement in parts_inside(node):
            for child in same_scope(statement):
                if isinstance(child, (ast.Global, ast.Nonlocal)):
                    walk(child)
        for statement in parts_inside(node):
            walk(statement)
        return scope

    def resolve(self, node: ast.AST) -> _Thing | None:
        """What the expression is known to be, None for a value of the code's own."""
        if isinstance(node, ast.Name):
            return self.resolve_name(node)
        if isinstance(node, ast.Attribute):
            base = self.resolve(node.value)
            if base is not None and base.kind == "module":
                return self.member(base.path, node.attr)
        return None

    def resolve_name(self, node: ast.Name) -> _Thing | None:
        scope = self.scope.find(node.id)
        if scope is None:
            return _Thing("builtin", node.id)
        if scope.is_open and node.id in _PYTHONS and (scope.is_class or node.id not in self.settled):
            return _Thing("either", node.id)
        bindings = scope.bound[node.id]
        paths = {what for what in bindings if isinstance(what, str)}
        if len(paths) == 1 and all(isinstance(what, str) for what in bindings):
            return self.qualified(paths.pop())
        things = [self.qualified(path) for path in paths]
        if any(thing.kind == "module" for thing in things if thing is not None):
            return _Thing("unclear", node.id)
        watched = next((thing for thing in things if thing is not None and thing.path in WATCHED | ENUMS), None)
        if watched is not None:
            return _Thing("mixed", watched.path)
        if (
            len(bindings) == 1
            and isinstance(bindings[0], (ast.Name, ast.Attribute))
            and id(bindings[0]) not in self.resolving
        ):
            self.resolving.add(id(bindings[0]))
            before, self.scope = self.scope, scope
            try:
                return self.resolve(bindings[0])
            finally:
                self.scope = before
                self.resolving.discard(id(bindings[0]))
        return None

    def qualified(self, path: str) -> _Thing | None:
        path = unicodedata.normalize("NFKC", path)
        if self.is_module(path):
            return _Thing("module", path)
        module, _, name = path.rpartition(".")
        return self.member(module, name) if module else _Thing("unlisted", path)

    def is_module(self, path: str) -> bool:
        return path in _NAMES or self.is_allowed(path)

    def is_allowed(self, path: str) -> bool:
        """Whether the user allowed the module that `path` is, or is in."""
        return any(path == module or path.startswith(f"{module}.") for module in self.allow)

    def member(self, module: str, name: str) -> _Thing:
        path = f"{module}.{unicodedata.normalize('NFKC', name)}"
        if path in _NAMES:
            return _Thing("module", path)
        if self.is_allowed(module) or name in _NAMES.get(module, ()) or path in GRANTED:
            return _Thing("name", path)
        return _Thing("unlisted", path)

    # -- what is checked -----------------------------------------------------------------------------------------------

    def use(self, node: ast.AST, thing: _Thing | None) -> None:
        """Check a thing that stands as a value."""
        if thing is None:
            return
        if thing.kind == "unlisted":
            if thing.path != KIND or node not in self.kinds:
                self.refuse(node, f"{thing.path} is not on the list of allowed names")
        elif thing.kind == "unclear":
            self.refuse(node, f"{thing.path} is a module here and something else there")
        elif thing.kind == "either":
            self.refuse(node, f"{thing.path} may be Python's own where it is read")
        elif thing.kind == "mixed":
            self.refuse(node, f"{thing.path} is bound to a name that stands for something else as well")
        elif thing.kind == "module":
            self.refuse(node, f"the module {thing.path} is used as a value")
        elif thing.kind == "builtin":
            self.use_builtin(node, thing.path)
        else:
            if thing.path in GRANTED:
                self.granted.add(GRANTED[thing.path])
            if thing.path == "torch.compile" and node not in self.called and node not in self.decorators:
                self.refuse(node, "torch.compile is used as a value")
            if thing.path in {STANCE, *WRAPPERS} and node not in self.called:
                self.refuse(node, f"{thing.path} is used as a value")
            if thing.path in ENUMS:
                self.refuse(node, f"{thing.path} is used other than as a base class")

    def use_builtin(self, node: ast.AST, name: str) -> None:
        if name in NEVER:
            self.refuse(node, NEVER[name])
        elif name in self.given:
            return
        elif name not in BUILTINS:
            known = hasattr(builtins, name) or _SPECIAL.fullmatch(name)
            self.refuse(node, f"{name} is not on the list of allowed names" if known else f"{name} is not defined")
        elif name in CALLED - {"print"} and node not in self.called:
            self.refuse(node, f"{name} is used as a value")

    def attribute(self, node: ast.AST, name: str, base: ast.AST) -> None:
        """Check reading attribute `name` of a value."""
        if self.mangled(name) in _REFUSED:
            self.refuse(node, f"the attribute {self.mangled(name)} is never allowed")
        if _SPECIAL.fullmatch(name):
            if name in TEXTS or (name == "__class__" and node in self.kinds):
                return
            if name not in PARENT_METHODS or node not in self.called or not self.is_class(base):
                self.refuse(node, f"the special attribute {name} is read")
        elif name in _REFUSED and not self.is_formatting(node, name):
            self.refuse(node, f"the attribute {name} is never allowed")
        elif name == "compile":
            self.granted.add("compile")
            if node not in self.called:
                self.refuse(node, "the attribute compile is used as a value")
        elif name not in _ATTRIBUTES and name not in self.declared and name not in _REFUSED and not self.allow:
            self.refuse(node, f"the attribute {name} is neither known nor defined here")

    def mangled(self, name: str) -> str:
        """The attribute that a private name means inside a class; "" for any other name."""
        owner = self.scope.owner if is_private(name) else None
        return f"_{owner.lstrip('_')}{name}" if owner is not None else ""

    def is_class(self, node: ast.AST) -> bool:
        """Whether the expression is super(), a class of the code's own, or a listed name."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "super" and self.scope.find("super") is None
        if isinstance(node, ast.Name) and self.scope.find(node.id) is self.scope.root:
            return self.is_own_class(node.id) or self.resolve(node) is not None
        return self.resolve(node) is not None

    def is_own_class(self, name: str) -> bool:
        """Whether the name stands, here, for a class of the module and for nothing else."""
        classes = [child for child in self.tree.body if isinstance(child, ast.ClassDef) and child.name == name]
        root = self.scope.root
        return bool(classes) and self.scope.find(name) is root and len(root.bound[name]) == len(classes)

    def is_formatting(self, node: ast.AST, name: str) -> bool:
        """Whether this is `"text {:.3f}".format(...)` with fields that name no attribute and no item."""
        if name != "format" or node not in self.called or not isinstance(node, ast.Attribute):
            return False
        text = node.value.value if isinstance(node.value, ast.Constant) else None
        return isinstance(text, str) and _plain_fields(text)

    def visit_Name(self, node: ast.Name) -> None:
        if is_private(node.id) and self.scope.owner is not None and not isinstance(node.ctx, ast.Store):
            self.refuse(node, f"the private name {node.id} is read inside a class")  # it is that of another variable
        if isinstance(node.ctx, ast.Load):
            self.use(node, self.resolve(node))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        base = self.resolve(node.value)
        loaded = isinstance(node.ctx, ast.Load)
        if base is not None and base.kind == "module":
            thing = self.member(base.path, node.attr)
            if loaded:
                self.use(node, thing)
            elif thing.path not in SETTABLE:
                self.refuse(node, f"the attribute {thing.path} of a module is written")
            return
        if not loaded:
            foreign = base is not None or (
                isinstance(node.value, ast.Call) and self.is_builtin(node.value.func, "type")
            )
            if foreign:
                self.refuse(node, f"the attribute {node.attr} of something from elsewhere is written")
            elif _SPECIAL.fullmatch(node.attr):
                self.refuse(node, f"the special attribute {node.attr} is written")
            elif node.attr in _REFUSED or self.mangled(node.attr) in _REFUSED:
                self.refuse(node, f"the attribute {self.mangled(node.attr) or node.attr} is never allowed")
        else:
            if node.attr in TEXTS:
                self.kinds.add(node.value)  # x.__class__.__name__
            self.attribute(node, node.attr, node.value)
        if base is not None and base.kind == "name" and base.path in ENUMS | WRAPPERS:
            self.refuse(node, f"an attribute of {base.path} is read")
        self.called.discard(node.value)
        if isinstance(node.value, ast.Name) and base is not None and base.kind == "builtin" and base.path in BUILTINS:
            return  # dict.fromkeys, str.join, int.from_bytes; the attribute was checked
        self.visit(node.value)

    def is_builtin(self, node: ast.AST, name: str) -> bool:
        return self.resolve(node) == _Thing("builtin", name)

    def visit_Call(self, node: ast.Call) -> None:
        self.called.add(node.func)
        thing = self.resolve(node.func)
        if thing is not None and thing.kind == "builtin":
            self.call_builtin(node, thing.path)
        compiles = thing is not None and thing.path == "torch.compile"
        if thing is not None and thing.path == "functools.partial" and node.args:
            inner = self.resolve(node.args[0])
            if inner is not None and inner.path == "torch.compile":
                compiles = True
                if node in self.decorators:  # elsewhere more options may follow
                    self.called.add(node.args[0])
        if compiles or (thing is None and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"):
            self.call_compile(node, "torch.compile" if compiles else "compile")
        if thing is not None and thing.path == STANCE:
            self.call_stance(node)
        if thing is not None and thing.path in WRAPPERS and (node.keywords or len(node.args) > 2 or _starred(node)):
            self.refuse(node, f"{thing.path} is called with more than the two functions")
        if thing is not None and thing.kind == "builtin" and thing.path in ("getattr", "hasattr", "setattr", "delattr"):
            for argument in node.args[2:]:
                self.visit(argument)
            return
        self.generic_visit(node)

    def call_compile(self, node: ast.Call, name: str) -> None:
        """Of torch.compile's options some name programs to start and functions to call with the compiler's rights."""
        for keyword in node.keywords:
            plain = keyword.arg in ("model", "fullgraph", "dynamic", "disable")
            mode = keyword.arg == "mode" and isinstance(keyword.value, ast.Constant)
            backend = keyword.arg == "backend" and self.is_backend(keyword.value)
            if not (plain or mode or backend):
                self.refuse(node, f"{name} is called with {keyword.arg or '**'}")
        if _starred(node):
            self.refuse(node, f"{name} is called in an unusual way")

    def call_stance(self, node: ast.Call) -> None:
        """A stance may name a function to call with the compiler's rights, as a backend is."""
        plain = all(keyword.arg in ("stance", "skip_guard_eval_unsafe") for keyword in node.keywords)
        if not plain or len(node.args) > 1 or _starred(node):
            self.refuse(node, f"{STANCE} is called with more than a stance")

    def is_backend(self, node: ast.expr) -> bool:
        """Whether the expression names one of torch's own backends, also by a constant of the module."""
        if isinstance(node, ast.IfExp):
            return self.is_backend(node.body) and self.is_backend(node.orelse)
        if isinstance(node, ast.Name):
            bound = self.scope.root.bound.get(node.id, [])
            if self.scope.find(node.id) is not self.scope.root or len(bound) != 1:
                return False
            return isinstance(bound[0], (ast.Constant, ast.IfExp)) and self.is_backend(bound[0])
        return isinstance(node, ast.Constant) and node.value in BACKENDS

    def call_builtin(self, node: ast.Call, name: str) -> None:
        if name in ("getattr", "hasattr", "setattr", "delattr"):
            literal = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], ast.Constant) else None
            if not isinstance(literal, str) or node.keywords or _starred(node):
                self.refuse(node, f"{name} with a name that is no literal")
                return
            context = ast.Store() if name in ("setattr", "delattr") else ast.Load()
            access = ast.Attribute(node.args[0], unicodedata.normalize("NFKC", literal), context)
            self.visit(ast.copy_location(access, node))
        elif name == "type" and (len(node.args) != 1 or node.keywords or _starred(node)):
            self.refuse(node, "type is called to make a class")
        elif name == "super" and (node.keywords or _starred(node) or len(node.args) not in (0, 2)):
            self.refuse(node, "super is called in an unusual way")
        elif name in ("isinstance", "issubclass") and len(node.args) == 2:
            asked = node.args[1]
            self.kinds.update(asked.elts if isinstance(asked, ast.Tuple) else [asked])
        elif name == "print" and any(keyword.arg not in ("sep", "end", "flush") for keyword in node.keywords):
            self.refuse(node, "print to something other than standard output")

    def visit_Assign(self, node: ast.Assign) -> None:
        thing = self.resolve(node.value)
        target = node.targets[0]
        if thing is not None and thing.kind == "module" and len(node.targets) == 1 and isinstance(target, ast.Name):
            owner = self.scope.find(target.id)
            if owner is not None and len(owner.bound[target.id]) == 1:
                return  # F = torch.nn.functional: `resolve` sees through it
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.use(node.target, self.resolve_name(node.target))  # its value is handed to __radd__ and the like
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not self.is_module(unicodedata.normalize("NFKC", alias.name)):
                self.refuse(node, f"the module {alias.name} is not on the list")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = unicodedata.normalize("NFKC", node.module or "")
        if node.level:
            self.refuse(node, f"the module {'.' * node.level}{module} is not on the list")
        elif module == "__future__":
            return
        elif not self.is_module(module):
            self.refuse(node, f"the module {module} is not on the list")
        else:
            for alias in node.names:
                if alias.name == "*":
                    self.refuse(node, f"every name of {module} is imported")
                    continue
                thing = self.member(module, alias.name)
                if thing.kind == "unlisted":
                    self.use(node, thing)
                elif thing.path in GRANTED:
                    self.granted.add(GRANTED[thing.path])

    # -- scopes --------------------------------------------------------------------------------------------------------

    def enter(self, node: ast.AST, outside: Iterable[ast.AST]) -> None:
        for part in outside:
            self.visit(part)
        before, self.scope = self.scope, self.scopes[node]
        for part in parts_inside(node):
            self.visit(part)
        self.scope = before

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.decorators.update(node.decorator_list)
        for annotation in (*(argument.annotation for argument in parameters(node)), node.returns):
            if annotation is not None and self.is_annotation(annotation):
                self.kinds.update(ast.walk(annotation))
        self.enter(node, parts_outside(node))

    def is_annotation(self, node: ast.AST) -> bool:
        """Whether the expression is made of classes and of their generics alone, none of which the code defines."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, (ast.Tuple, ast.List)):
            return all(map(self.is_annotation, node.elts))
        if isinstance(node, ast.Subscript):
            return self.is_annotation(node.value) and self.is_annotation(node.slice)
        if isinstance(node, ast.BinOp):
            return self.is_annotation(node.left) and self.is_annotation(node.right)
        thing = self.resolve(node)
        return thing is not None and (thing.kind in ("name", "builtin") or thing.path == KIND)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.enter(node, parts_outside(node))

    def visit_comprehension_scope(self, node: ast.AST) -> None:
        self.enter(node, [node.generators[0].iter])  # type: ignore[attr-defined]

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_scope  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for keyword in node.keywords:
            self.refuse(node, f"class {node.name} has the keyword {keyword.arg or '**'} (a metaclass or its like)")
        torch_bases = plain = enumeration = False
        for base in node.bases:
            inner = base.value if isinstance(base, ast.Subscript) else base
            thing = self.resolve(inner)
            if thing is None:
                if not isinstance(inner, ast.Name) or not self.is_own_class(inner.id):
                    self.refuse(base, f"class {node.name} has a base that is no class of its own file or of the list")
                continue
            torch_bases |= thing.path.startswith("torch.")
            plain |= thing.kind == "builtin" and thing.path != "object"
            enumeration |= thing.path in ENUMS
            own_error = (
                thing.kind == "builtin"
                and thing.path not in PLAIN_BASES
                and thing.path.endswith(("Error", "Exception", "Warning"))
            )
            layer = (
                thing.kind == "name"
                and re.fullmatch(r"torch\.(nn|nn\.modules|optim)\.[A-Z]\w+", thing.path)
                and not thing.path.endswith("Parameter")
            )
            allowed = thing.kind == "name" and (thing.path in BASES | ENUMS or self.is_allowed(thing.path))
            if not (layer or allowed or own_error or (thing.kind == "builtin" and thing.path in PLAIN_BASES)):
                self.refuse(base, f"class {node.name} derives from {thing.path}")
        if torch_bases and plain:
            self.refuse(node, f"class {node.name} is both of torch and a container")
        if enumeration:
            self.check_members(node)
        self.decorators.update(node.decorator_list)
        for part in node.decorator_list:
            self.visit(part)
        for base in node.bases:
            if isinstance(base, ast.Subscript):
                self.visit(base.slice)
        self.enter(node, ())

    def check_members(self, node: ast.ClassDef) -> None:
        """An enumeration without members can be called to make others, of any attributes."""
        names = [target.id for child in node.body if isinstance(child, ast.Assign)
                 and isinstance(child.value, (ast.Constant, ast.Call, ast.Tuple, ast.UnaryOp, ast.BinOp))
                 for target in child.targets if isinstance(target, ast.Name)]  # fmt: skip
        if not any(not name.startswith("_") for name in names) or any(re.fullmatch(r"_\w+_", name) for name in names):
            self.refuse(node, f"the enumeration {node.name} has no members, or special ones")

    # -- the rest ------------------------------------------------------------------------------------------------------

    def visit_MatchClass(self, node: ast.AST) -> None:
        for name in node.kwd_attrs:  # type: ignore[attr-defined]
            self.attribute(node, name, node)
        for name in self.fields if node.patterns else ():  # type: ignore[attr-defined]
            self.attribute(node, name, node)  # patterns without names read those that a class lists, of any value
        self.generic_visit(node)

    def visit_asynchronous(self, node: ast.AST) -> None:
        self.refuse(node, "asynchronous code")

    visit_AsyncFunctionDef = visit_Await = visit_AsyncFor = visit_AsyncWith = visit_asynchronous  # noqa: N815


def _plain_fields(text: str) -> bool:
    """Whether a format string names arguments alone, no attributes or items of theirs."""
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return True  # formatting raises as well
    return all(
        field is None or (not set(".[") & set(field) and _plain_fields(spec or "")) for _, field, spec, _ in fields
    )


def _starred(node: ast.Call) -> bool:
    return any(isinstance(argument, ast.Starred) for argument in node.args) or any(
        keyword.arg is None for keyword in node.keywords
    )
