"""The names of a module as Python binds them and looks them up: scopes, what is evaluated in which, what binds.

The standard library alone, Python 3.9 or later: this travels with the worker.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """Names bound in a module, class, function or comprehension, each with what binds it."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.bound: dict[str, list[str | ast.expr | None]] = {}  # a qualified name, an alias' expression, or unknown
        self.outer: dict[str, str] = {}  # "global" or "nonlocal" statements

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_open(self) -> bool:
        """Whether a name that is not bound yet, or no more, is looked up further out, down to Python's own."""
        return isinstance(self.node, (ast.Module, ast.ClassDef))

    @property
    def owner(self) -> str | None:
        """The name of the innermost class around, with which Python puts together private names; None outside."""
        scope: Scope | None = self
        while scope is not None and not isinstance(scope.node, ast.ClassDef):
            scope = scope.parent
        return scope.node.name if scope is not None and isinstance(scope.node, ast.ClassDef) else None

    def find(self, name: str) -> Scope | None:
        """The scope whose binding a load of `name` here sees, as Python's own rules have it."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if scope.outer.get(name) == "global":
                return scope.root if name in scope.root.bound else None
            if name in scope.bound and (first or not scope.is_class):
                return scope
            first = False
            scope = scope.parent
        return None

    @property
    def root(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def settled(tree: ast.Module) -> frozenset[str]:
    """Names that the module binds once for all, in a statement of its own, before it reads them anywhere."""
    bound: dict[str, int] = {}
    for statement in tree.body:
        names: list[str] = []
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            names = [statement.name]
        elif isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = [alias.asname or alias.name.split(".")[0] for alias in statement.names]
        for name in names:
            bound.setdefault(name, statement.end_lineno or statement.lineno)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            unsettled = [node.id] if node.lineno <= bound.get(node.id, 0) else []
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            unsettled = [node.target.id] if node.lineno <= bound.get(node.target.id, 0) else []
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            unsettled = [node.id]
        elif isinstance(node, ast.ExceptHandler):
            unsettled = [node.name] if node.name else []
        else:
            unsettled = list(node.names) if isinstance(node, ast.Global) else []
        for name in unsettled:
            bound.pop(name, None)
    return frozenset(bound)


def is_private(name: str) -> bool:
    """Whether Python puts the name of the class before it, inside a class."""
    return name.startswith("__") and not name.endswith("__")


def parameters(node: ast.AST) -> Iterator[ast.arg]:
    arguments: ast.arguments = node.args  # type: ignore[attr-defined]
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None)


def parts_outside(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a definition that are evaluated in the scope around it."""
    for parameter in getattr(node, "type_params", ()):
        yield ast.copy_location(ast.Name(parameter.name, ast.Store()), node)
        yield from filter(None, (getattr(parameter, "bound", None), getattr(parameter, "default_value", None)))
    if isinstance(node, FUNCTIONS):
        yield from getattr(node, "decorator_list", ())
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
        yield from (argument.annotation for argument in parameters(node) if argument.annotation is not None)
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords))


def parts_inside(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a definition, comprehension or module that are evaluated in its own scope."""
    if isinstance(node, ast.Lambda):
        yield node.body
    elif isinstance(node, COMPREHENSIONS):
        yield from ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        for index, generator in enumerate(node.generators):
            yield generator.target
            yield from generator.ifs
            if index:
                yield generator.iter
    else:
        yield from node.body  # type: ignore[attr-defined]


def same_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what lies below it, without what opens a scope of its own."""
    yield node
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
        for child in ast.iter_child_nodes(node):
            yield from same_scope(child)


def declared(tree: ast.Module) -> Iterator[str]:
    """Attribute names that the code gives to objects of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
                    yield child.name
                elif isinstance(child, ast.Assign):
                    yield from (target.id for target in child.targets if isinstance(target, ast.Name))
                elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                    yield child.target.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("register_buffer", "register_parameter", "add_module"):
                yield from _texts(node.args[0])
            elif called == "setattr" and len(node.args) > 1:
                yield from _texts(node.args[1])
            elif called in ("namedtuple", "NamedTuple", "ModuleDict") and node.args:
                yield from (
                    word for argument in node.args for text in _texts(argument) for word in re.split(r"[\s,]+", text)
                )


def fields(tree: ast.Module) -> Iterator[str]:
    """Names of what classes list as their fields."""
    for node in ast.walk(tree):
        for child in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                yield child.target.id


def _texts(node: ast.AST) -> Iterator[str]:
    return (child.value for child in ast.walk(node) if isinstance(child, ast.Constant) and isinstance(child.value, str))
