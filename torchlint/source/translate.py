"""LibCST's nodes, made from the tree of CPython's own parser.

CPython parses in a twelfth of the time that LibCST takes, most of which goes into tokens and white space. What is read
here has LibCST's nodes, so that all else need not know of a second kind, but no white space, no punctuation and no
parentheses; where a node stands, and how it is written, the text tells (`torchlint.source.parse`).
"""

from __future__ import annotations

import ast
import dataclasses
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import libcst as cst

__all__ = ["LIBCST_ERRORS", "NotTranslatedError", "Origin", "Translation", "is_in_parentheses", "translate"]

# What LibCST raises for a text that it does not read, or reads and finds fault with what it made.
LIBCST_ERRORS = (cst.ParserSyntaxError, cst.CSTValidationError, cst.CSTLogicError)

# What a node was made from: a node of CPython, or the first and the last of several.
Origin = ast.AST | tuple[ast.AST, ast.AST]


class NotTranslatedError(Exception):
    """The text holds something that is left to LibCST's own parser."""


@dataclasses.dataclass
class Translation:
    """A module, what its nodes were made from, and the string literals of several parts, whose nodes LibCST made."""

    module: cst.Module
    origins: dict[cst.CSTNode, Origin]
    literals: list[cst.BaseExpression]


def translate(text: str) -> Translation:
    """Parse a module. To be called on a deep stack (`torchlint.source.stack`).

    Raises what `ast.parse` raises for a text that the running Python does not read, and NotTranslatedError.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of CPython about the file
        parsed = ast.parse(text)
    return _Translator(text).module(parsed)


def _maker(kind: type[cst.CSTNode], *given: str) -> Callable[..., Any]:
    """What makes nodes of a kind from the fields in `given`, by position; the others have their defaults.

    LibCST's own constructors check each field, which takes longer than all else here together.
    """
    # Nodes are the keys of most that is kept of a tree. LibCST hashes them by their identity, with a function in Python
    # that takes four times as long as what `object` has for the same.
    kind.__hash__ = object.__hash__  # type: ignore[method-assign]
    names: dict[str, Any] = {"draft": _draft(kind), "kind": kind}
    rows = [f"def make({', '.join(given)}):", "    node = draft()"]
    for spec in dataclasses.fields(kind):
        if spec.name not in given:
            default = spec.default_factory() if callable(spec.default_factory) else spec.default
            names[spec.name] = None if default is dataclasses.MISSING else default
        rows.append(f"    node.{spec.name} = {spec.name}")
    rows += ["    node.__class__ = kind", "    return node"]
    exec("\n".join(rows), names)
    return names["make"]  # type: ignore[no-any-return]


# What a class has of `object` whose instances are made without arguments, and take what they are given.
_SETTABLE = {name: getattr(object, name) for name in ("__init__", "__setattr__", "__delattr__")}


def _draft(kind: Any) -> Any:
    """A twin of a kind of nodes whose fields can be set, and whose instances can become nodes of that kind."""
    body = {name: held for name, held in vars(kind).items() if name not in kind.__slots__}
    return type(kind)(kind.__name__, kind.__bases__, body | _SETTABLE)


_name = _maker(cst.Name, "value")
_attribute = _maker(cst.Attribute, "value", "attr")
_call = _maker(cst.Call, "func", "args")
_arg = _maker(cst.Arg, "value", "keyword", "star")
_element = _maker(cst.Element, "value")
_starred = _maker(cst.StarredElement, "value")
_index = _maker(cst.Index, "value", "star")
_slice = _maker(cst.Slice, "lower", "upper", "step")
_subscript_element = _maker(cst.SubscriptElement, "slice")
_subscript = _maker(cst.Subscript, "value", "slice")
_binary = _maker(cst.BinaryOperation, "left", "operator", "right")
_boolean = _maker(cst.BooleanOperation, "left", "operator", "right")
_unary = _maker(cst.UnaryOperation, "operator", "expression")
_comparison = _maker(cst.Comparison, "left", "comparisons")
_comparison_target = _maker(cst.ComparisonTarget, "operator", "comparator")
_if_exp = _maker(cst.IfExp, "test", "body", "orelse")
_lambda = _maker(cst.Lambda, "params", "body")
_tuple = _maker(cst.Tuple, "elements")
_list = _maker(cst.List, "elements")
_set = _maker(cst.Set, "elements")
_dict = _maker(cst.Dict, "elements")
_dict_element = _maker(cst.DictElement, "key", "value")
_starred_dict_element = _maker(cst.StarredDictElement, "value")
_list_comp = _maker(cst.ListComp, "elt", "for_in")
_set_comp = _maker(cst.SetComp, "elt", "for_in")
_generator = _maker(cst.GeneratorExp, "elt", "for_in")
_dict_comp = _maker(cst.DictComp, "key", "value", "for_in")
_comp_for = _maker(cst.CompFor, "target", "iter", "ifs", "inner_for_in", "asynchronous")
_comp_if = _maker(cst.CompIf, "test")
_await = _maker(cst.Await, "expression")
_yield = _maker(cst.Yield, "value")
_from = _maker(cst.From, "item")
_named = _maker(cst.NamedExpr, "target", "value")
_simple_string = _maker(cst.SimpleString, "value")
_ellipsis = _maker(cst.Ellipsis)
_number = {
    int: _maker(cst.Integer, "value"),
    float: _maker(cst.Float, "value"),
    complex: _maker(cst.Imaginary, "value"),
}

_line = _maker(cst.SimpleStatementLine, "body")
_suite = _maker(cst.SimpleStatementSuite, "body")
_block = _maker(cst.IndentedBlock, "body")
_expression = _maker(cst.Expr, "value")
_assign = _maker(cst.Assign, "targets", "value")
_assign_target = _maker(cst.AssignTarget, "target")
_annotated_assign = _maker(cst.AnnAssign, "target", "annotation", "value")
_augmented_assign = _maker(cst.AugAssign, "target", "operator", "value")
_annotation = _maker(cst.Annotation, "annotation")
_return = _maker(cst.Return, "value")
_raise = _maker(cst.Raise, "exc", "cause")
_assert = _maker(cst.Assert, "test", "msg")
_delete = _maker(cst.Del, "target")
_import = _maker(cst.Import, "names")
_import_from = _maker(cst.ImportFrom, "module", "names", "relative")
_import_alias = _maker(cst.ImportAlias, "name", "asname")
_import_star = _maker(cst.ImportStar)
_as_name = _maker(cst.AsName, "name")
_dot = _maker(cst.Dot)
_global = _maker(cst.Global, "names")
_nonlocal = _maker(cst.Nonlocal, "names")
_name_item = _maker(cst.NameItem, "name")
_plain = {ast.Pass: _maker(cst.Pass), ast.Break: _maker(cst.Break), ast.Continue: _maker(cst.Continue)}
_if = _maker(cst.If, "test", "body", "orelse")
_else = _maker(cst.Else, "body")
_while = _maker(cst.While, "test", "body", "orelse")
_for = _maker(cst.For, "target", "iter", "body", "orelse", "asynchronous")
_asynchronous = _maker(cst.Asynchronous)
_try = _maker(cst.Try, "body", "handlers", "orelse", "finalbody")
_try_star = _maker(cst.TryStar, "body", "handlers", "orelse", "finalbody")
_handler = _maker(cst.ExceptHandler, "body", "type", "name")
_star_handler = _maker(cst.ExceptStarHandler, "body", "type", "name")
_finally = _maker(cst.Finally, "body")
_with = _maker(cst.With, "items", "body", "asynchronous")
_with_item = _maker(cst.WithItem, "item", "asname")
_match = _maker(cst.Match, "subject", "cases")
_case = _maker(cst.MatchCase, "pattern", "body", "guard")
_match_value = _maker(cst.MatchValue, "value")
_match_singleton = _maker(cst.MatchSingleton, "value")
_match_element = _maker(cst.MatchSequenceElement, "value")
_match_star = _maker(cst.MatchStar, "name")
_match_tuple = _maker(cst.MatchTuple, "patterns")
_match_list = _maker(cst.MatchList, "patterns")
_match_mapping = _maker(cst.MatchMapping, "elements", "rest")
_match_mapping_element = _maker(cst.MatchMappingElement, "key", "pattern")
_match_class = _maker(cst.MatchClass, "cls", "patterns", "kwds")
_match_keyword = _maker(cst.MatchKeywordElement, "key", "pattern")
_match_or = _maker(cst.MatchOr, "patterns")
_match_or_element = _maker(cst.MatchOrElement, "pattern", "separator")
_match_as = _maker(cst.MatchAs, "pattern", "name")
_function = _maker(
    cst.FunctionDef, "name", "params", "body", "decorators", "returns", "asynchronous", "type_parameters"
)
_class = _maker(cst.ClassDef, "name", "body", "bases", "keywords", "decorators", "type_parameters")
_type_alias = _maker(cst.TypeAlias, "name", "value", "type_parameters")
_type_parameters = _maker(cst.TypeParameters, "params")
_type_parameter = _maker(cst.TypeParam, "param", "default", "star")
_type_variable = _maker(cst.TypeVar, "name", "bound")
_type_variables = _maker(cst.TypeVarTuple, "name")
_parameter_specification = _maker(cst.ParamSpec, "name")
_decorator = _maker(cst.Decorator, "decorator")
_parameters = _maker(
    cst.Parameters, "params", "star_arg", "kwonly_params", "star_kwarg", "posonly_params", "posonly_ind"
)
_parameter = _maker(cst.Param, "name", "annotation", "default", "star")
_star_parameter = _maker(cst.ParamStar)
_slash_parameter = _maker(cst.ParamSlash)

# Operators have nothing of their own but white space: one of each kind will do.
_BINARY: dict[type[ast.AST], cst.BaseBinaryOp] = {
    ast.Add: cst.Add(),
    ast.Sub: cst.Subtract(),
    ast.Mult: cst.Multiply(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Div: cst.Divide(),
    ast.Mod: cst.Modulo(),
    ast.Pow: cst.Power(),
    ast.LShift: cst.LeftShift(),
    ast.RShift: cst.RightShift(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
    ast.BitAnd: cst.BitAnd(),
    ast.FloorDiv: cst.FloorDivide(),
}
_AUGMENTED: dict[type[ast.AST], cst.BaseAugOp] = {
    ast.Add: cst.AddAssign(),
    ast.Sub: cst.SubtractAssign(),
    ast.Mult: cst.MultiplyAssign(),
    ast.MatMult: cst.MatrixMultiplyAssign(),
    ast.Div: cst.DivideAssign(),
    ast.Mod: cst.ModuloAssign(),
    ast.Pow: cst.PowerAssign(),
    ast.LShift: cst.LeftShiftAssign(),
    ast.RShift: cst.RightShiftAssign(),
    ast.BitOr: cst.BitOrAssign(),
    ast.BitXor: cst.BitXorAssign(),
    ast.BitAnd: cst.BitAndAssign(),
    ast.FloorDiv: cst.FloorDivideAssign(),
}
_COMPARISON: dict[type[ast.AST], cst.BaseCompOp] = {
    ast.Eq: cst.Equal(),
    ast.NotEq: cst.NotEqual(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.In: cst.In(),
    ast.NotIn: cst.NotIn(),
}
_BOOLEAN: dict[type[ast.AST], cst.BaseBooleanOp] = {ast.And: cst.And(), ast.Or: cst.Or()}
_UNARY: dict[type[ast.AST], cst.BaseUnaryOp] = {
    ast.UAdd: cst.Plus(),
    ast.USub: cst.Minus(),
    ast.Invert: cst.BitInvert(),
    ast.Not: cst.Not(),
}

_ONE_LITERAL = re.compile(
    r"[a-zA-Z]*(?:'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    r'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    r"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r'|"[^"\\\n]*(?:\\.[^"\\\n]*)*")',
    re.DOTALL,
)


class _Translator:
    """The state of one translation."""

    def __init__(self, text: str) -> None:
        self.text = text
        # CPython counts columns in bytes of UTF-8.
        self.data = text if text.isascii() else text.encode()
        newline = "\n" if isinstance(self.data, str) else b"\n"
        rows = self.data.split(newline)  # type: ignore[arg-type]
        self.starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
        self.origins: dict[cst.CSTNode, Origin] = {}
        self.literals: list[cst.BaseExpression] = []

    def module(self, parsed: ast.Module) -> Translation:
        module = cst.Module(body=self.statements(parsed.body))
        return Translation(module, self.origins, self.literals)

    def written(self, start: int, end: int) -> str:
        part = self.data[start:end]
        return part if isinstance(part, str) else part.decode()

    def source(self, node: Any) -> str:
        """How a node is written."""
        starts = self.starts
        return self.written(
            starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        )

    # Statements

    def statements(self, body: Iterable[ast.stmt]) -> tuple[Any, ...]:
        """Statements; those that share a row are one of LibCST's lines."""
        made: list[Any] = []
        line: list[tuple[ast.stmt, Any]] = []
        for statement in body:
            kind = type(statement)
            if line and statement.lineno != line[-1][0].end_lineno:
                made.append(self._line(line))
                line = []
            make = _SIMPLE.get(kind)
            if make is not None:
                node = make(self, statement)
                line.append((statement, node))
            elif kind in _COMPOUND:
                node = _COMPOUND[kind](self, statement)
                made.append(node)
            else:
                raise NotTranslatedError(kind.__name__)
            self.origins[node] = statement
        if line:
            made.append(self._line(line))
        return tuple(made)

    def _line(self, line: list[tuple[ast.stmt, Any]]) -> Any:
        node = _line(tuple([small for _, small in line]))
        self.origins[node] = (line[0][0], line[-1][0])
        return node

    def block(self, body: list[ast.stmt]) -> Any:
        """The body of a compound statement, on rows of its own or behind the colon."""
        made = self.statements(body)
        first = body[0]
        start = self.starts[first.lineno - 1]
        before = self.data[start : start + first.col_offset]
        if before and not before.isspace() and type(made[0]) is cst.SimpleStatementLine:
            return _suite(made[0].body)
        return _block(made)

    def _or_else(self, body: list[ast.stmt]) -> Any:
        return _else(self.block(body)) if body else None

    def if_(self, node: ast.If) -> Any:
        orelse: Any = None
        if node.orelse:
            inner = node.orelse[0]
            at = self.starts[inner.lineno - 1] + inner.col_offset
            if type(inner) is ast.If and self.data[at : at + 2] in ("el", b"el"):
                orelse = self.if_(inner)
                self.origins[orelse] = inner
            else:
                orelse = self._or_else(node.orelse)
        return _if(self.expression(node.test), self.block(node.body), orelse)

    def while_(self, node: ast.While) -> Any:
        return _while(self.expression(node.test), self.block(node.body), self._or_else(node.orelse))

    def for_(self, node: ast.For | ast.AsyncFor) -> Any:
        return _for(
            self.expression(node.target),
            self.expression(node.iter),
            self.block(node.body),
            self._or_else(node.orelse),
            _asynchronous() if type(node) is ast.AsyncFor else None,
        )

    def try_(self, node: Any) -> Any:
        make, handler = (_try, _handler) if type(node) is ast.Try else (_try_star, _star_handler)
        body = self.block(node.body)
        handlers = []
        for held in node.handlers:
            name = _as_name(_name(held.name)) if held.name is not None else None
            made = handler(self.block(held.body), self.optional(held.type), name)
            self.origins[made] = held
            handlers.append(made)
        orelse = self._or_else(node.orelse)
        final = _finally(self.block(node.finalbody)) if node.finalbody else None
        return make(body, tuple(handlers), orelse, final)

    def with_(self, node: ast.With | ast.AsyncWith) -> Any:
        items = []
        for item in node.items:
            bound = item.optional_vars
            items.append(
                _with_item(
                    self.expression(item.context_expr), None if bound is None else _as_name(self.expression(bound))
                )
            )
        return _with(tuple(items), self.block(node.body), _asynchronous() if type(node) is ast.AsyncWith else None)

    def match(self, node: ast.Match) -> Any:
        subject = self.expression(node.subject)
        return _match(subject, tuple([self._case(case) for case in node.cases]))

    def _case(self, case: ast.match_case) -> Any:
        return _case(self._pattern(case.pattern), self.block(case.body), self.optional(case.guard))

    def _pattern(self, node: Any) -> Any:
        return _PATTERNS[type(node)](self, node)

    def match_value(self, node: ast.MatchValue) -> Any:
        return _match_value(self.expression(node.value))

    def match_singleton(self, node: ast.MatchSingleton) -> Any:
        return _match_singleton(_name(repr(node.value)))

    def match_sequence(self, node: ast.MatchSequence) -> Any:
        patterns = tuple(
            [
                self._pattern(part) if type(part) is ast.MatchStar else _match_element(self._pattern(part))
                for part in node.patterns
            ]
        )
        written = self.source(node)
        return (_match_tuple if written.startswith("(") and written.endswith(")") else _match_list)(patterns)

    def match_star(self, node: ast.MatchStar) -> Any:
        return _match_star(None if node.name is None else _name(node.name))

    def match_mapping(self, node: ast.MatchMapping) -> Any:
        elements = [
            _match_mapping_element(self.expression(key), self._pattern(value))
            for key, value in zip(node.keys, node.patterns, strict=True)
        ]
        return _match_mapping(tuple(elements), None if node.rest is None else _name(node.rest))

    def match_class(self, node: ast.MatchClass) -> Any:
        return _match_class(
            self.expression(node.cls),
            tuple([_match_element(self._pattern(part)) for part in node.patterns]),
            tuple(
                [
                    _match_keyword(_name(name), self._pattern(part))
                    for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)
                ]
            ),
        )

    def match_or(self, node: ast.MatchOr) -> Any:
        *others, last = [self._pattern(part) for part in node.patterns]
        elements = [_match_or_element(part, _BINARY[ast.BitOr]) for part in others]
        return _match_or((*elements, _match_or_element(last, cst.MaybeSentinel.DEFAULT)))

    def match_as(self, node: ast.MatchAs) -> Any:
        pattern = None if node.pattern is None else self._pattern(node.pattern)
        return _match_as(pattern, None if node.name is None else _name(node.name))

    def _type_parameters(self, node: Any) -> Any:
        held = getattr(node, "type_params", None)  # Python 3.12
        return _type_parameters(tuple([self._type_parameter(one) for one in held])) if held else None

    def _type_parameter(self, node: Any) -> Any:
        kind, name = type(node).__name__, _name(node.name)
        if kind == "TypeVar":
            made = _type_variable(name, self.optional(node.bound))
        else:
            made = (_type_variables if kind == "TypeVarTuple" else _parameter_specification)(name)
        default, star = getattr(node, "default_value", None), ""  # Python 3.13
        if type(default) is ast.Starred:
            default, star = default.value, "*"
        return _type_parameter(made, self.optional(default), star)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Any:
        return _function(
            _name(node.name),
            self.parameters(node.args),
            self.block(node.body),
            self.decorators(node.decorator_list),
            self._annotation(node.returns),
            _asynchronous() if type(node) is ast.AsyncFunctionDef else None,
            self._type_parameters(node),
        )

    def class_(self, node: ast.ClassDef) -> Any:
        return _class(
            _name(node.name),
            self.block(node.body),
            tuple([self._positional(base) for base in node.bases]),
            tuple([self._keyword(keyword) for keyword in node.keywords]),
            self.decorators(node.decorator_list),
            self._type_parameters(node),
        )

    def decorators(self, held: list[ast.expr]) -> tuple[Any, ...]:
        return tuple([_decorator(self.expression(decorator)) for decorator in held])

    def parameters(self, held: ast.arguments) -> Any:
        positional = [*held.posonlyargs, *held.args]
        defaults = [*[None] * (len(positional) - len(held.defaults)), *held.defaults]
        made = [self._parameter(*pair) for pair in zip(positional, defaults, strict=True)]
        only = len(held.posonlyargs)
        star: Any = cst.MaybeSentinel.DEFAULT
        if held.vararg is not None:
            star = self._parameter(held.vararg, None, "*")
        elif held.kwonlyargs:
            star = _star_parameter()
        by_name = [self._parameter(*pair) for pair in zip(held.kwonlyargs, held.kw_defaults, strict=True)]
        return _parameters(
            tuple(made[only:]),
            star,
            tuple(by_name),
            None if held.kwarg is None else self._parameter(held.kwarg, None, "**"),
            tuple(made[:only]),
            _slash_parameter() if only else cst.MaybeSentinel.DEFAULT,
        )

    def _parameter(self, held: ast.arg, default: ast.expr | None, star: str = "") -> Any:
        name = _name(held.arg)
        node = _parameter(name, self._annotation(held.annotation), self.optional(default), star)
        self.origins[name] = held
        return node

    def _annotation(self, held: ast.expr | None) -> Any:
        return None if held is None else _annotation(self.expression(held))

    # Simple statements

    def expression_statement(self, node: ast.Expr) -> Any:
        return _expression(self.expression(node.value))

    def assign(self, node: ast.Assign) -> Any:
        targets = tuple([_assign_target(self.expression(target)) for target in node.targets])
        return _assign(targets, self.expression(node.value))

    def annotated_assign(self, node: ast.AnnAssign) -> Any:
        return _annotated_assign(
            self.expression(node.target), self._annotation(node.annotation), self.optional(node.value)
        )

    def augmented_assign(self, node: ast.AugAssign) -> Any:
        return _augmented_assign(self.expression(node.target), _AUGMENTED[type(node.op)], self.expression(node.value))

    def return_(self, node: ast.Return) -> Any:
        return _return(self.optional(node.value))

    def raise_(self, node: ast.Raise) -> Any:
        cause = None if node.cause is None else _from(self.expression(node.cause))
        return _raise(self.optional(node.exc), cause)

    def assert_(self, node: ast.Assert) -> Any:
        return _assert(self.expression(node.test), self.optional(node.msg))

    def delete(self, node: ast.Delete) -> Any:
        if len(node.targets) == 1:
            return _delete(self.expression(node.targets[0]))
        target = _tuple(self.elements(node.targets))
        self.origins[target] = (node.targets[0], node.targets[-1])
        return _delete(target)

    def import_(self, node: ast.Import) -> Any:
        return _import(self._aliases(node.names))

    def import_from(self, node: ast.ImportFrom) -> Any:
        star = node.names[0].name == "*"
        return _import_from(
            None if node.module is None else _dotted(node.module),
            _import_star() if star else self._aliases(node.names),
            tuple([_dot() for _ in range(node.level)]),
        )

    def _aliases(self, names: list[ast.alias]) -> tuple[Any, ...]:
        made = []
        for alias in names:
            node = _import_alias(_dotted(alias.name), None if alias.asname is None else _as_name(_name(alias.asname)))
            self.origins[node] = alias
            made.append(node)
        return tuple(made)

    def global_(self, node: ast.Global) -> Any:
        return _global(tuple([_name_item(_name(name)) for name in node.names]))

    def nonlocal_(self, node: ast.Nonlocal) -> Any:
        return _nonlocal(tuple([_name_item(_name(name)) for name in node.names]))

    def type_alias(self, node: Any) -> Any:
        return _type_alias(_name(node.name.id), self.expression(node.value), self._type_parameters(node))

    def plain(self, node: ast.Pass | ast.Break | ast.Continue) -> Any:
        return _plain[type(node)]()

    # Expressions

    def expression(self, node: ast.expr) -> Any:
        make = _EXPRESSIONS.get(type(node))
        if make is None:
            raise NotTranslatedError(type(node).__name__)
        made = make(self, node)
        self.origins[made] = node
        return made

    def optional(self, node: ast.expr | None) -> Any:
        return None if node is None else self.expression(node)

    def name(self, node: ast.Name) -> Any:
        return _name(node.id)

    def attribute(self, node: ast.Attribute) -> Any:
        name = _name(node.attr)
        self.origins[name] = node
        return _attribute(self.expression(node.value), name)

    def call(self, node: ast.Call) -> Any:
        function = self.expression(node.func)
        arguments = [self._positional(argument) for argument in node.args]
        if node.keywords:
            arguments += [self._keyword(keyword) for keyword in node.keywords]
            if node.args and _place(node.args[-1]) > _place(node.keywords[0]):  # f(a=1, *b)
                held: list[Any] = [*node.args, *node.keywords]
                arguments = [made for _, made in sorted(zip(map(_place, held), arguments, strict=True), key=_first)]
        return _call(function, tuple(arguments))

    def _positional(self, node: ast.expr) -> Any:
        if type(node) is not ast.Starred:
            return _arg(self.expression(node), None, "")
        argument = _arg(self.expression(node.value), None, "*")
        self.origins[argument] = node
        return argument

    def _keyword(self, node: ast.keyword) -> Any:
        if node.arg is None:
            argument = _arg(self.expression(node.value), None, "**")
        else:
            name = _name(node.arg)
            self.origins[name] = node
            argument = _arg(self.expression(node.value), name, "")
        self.origins[argument] = node
        return argument

    def subscript(self, node: ast.Subscript) -> Any:
        value = self.expression(node.value)
        index = node.slice
        if type(index) is ast.Tuple and index.elts and not self._is_in_parentheses(index):
            parts = index.elts
        else:
            parts = [index]
        return _subscript(value, tuple([_subscript_element(self._index(part)) for part in parts]))

    def _index(self, node: ast.expr) -> Any:
        if type(node) is ast.Slice:
            made = _slice(self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
            self.origins[made] = node
        elif type(node) is ast.Starred:
            made = _index(self.expression(node.value), "*")
            self.origins[made] = node
        else:
            made = _index(self.expression(node), None)
        return made

    def _is_in_parentheses(self, node: ast.Tuple) -> bool:
        if self.data[self.starts[node.lineno - 1] + node.col_offset] not in ("(", 40):
            return False
        return not any(isinstance(element, ast.Slice) for element in node.elts) and is_in_parentheses(self.source(node))

    def binary(self, node: ast.BinOp) -> Any:
        return _binary(self.expression(node.left), _BINARY[type(node.op)], self.expression(node.right))

    def boolean(self, node: ast.BoolOp) -> Any:
        operator = _BOOLEAN[type(node.op)]
        first, second, *rest = node.values
        made = _boolean(self.expression(first), operator, self.expression(second))
        before = second
        for value in rest:
            self.origins[made] = (node, before)
            made = _boolean(made, operator, self.expression(value))
            before = value
        return made

    def unary(self, node: ast.UnaryOp) -> Any:
        return _unary(_UNARY[type(node.op)], self.expression(node.operand))

    def compare(self, node: ast.Compare) -> Any:
        left = self.expression(node.left)
        targets = [
            _comparison_target(_COMPARISON[type(operator)], self.expression(value))
            for operator, value in zip(node.ops, node.comparators, strict=True)
        ]
        return _comparison(left, tuple(targets))

    def if_expression(self, node: ast.IfExp) -> Any:
        return _if_exp(self.expression(node.test), self.expression(node.body), self.expression(node.orelse))

    def lambda_(self, node: ast.Lambda) -> Any:
        return _lambda(self.parameters(node.args), self.expression(node.body))

    def elements(self, held: Sequence[ast.expr]) -> tuple[Any, ...]:
        made = []
        for element in held:
            if type(element) is ast.Starred:
                node = _starred(self.expression(element.value))
                self.origins[node] = element
            else:
                node = _element(self.expression(element))
            made.append(node)
        return tuple(made)

    def starred(self, node: ast.Starred) -> Any:
        return _starred(self.expression(node.value))

    def tuple_(self, node: ast.Tuple) -> Any:
        return _tuple(self.elements(node.elts))

    def list_(self, node: ast.List) -> Any:
        return _list(self.elements(node.elts))

    def set_(self, node: ast.Set) -> Any:
        return _set(self.elements(node.elts))

    def dict_(self, node: ast.Dict) -> Any:
        return _dict(
            tuple(
                [
                    _starred_dict_element(self.expression(value))
                    if key is None
                    else _dict_element(self.expression(key), self.expression(value))
                    for key, value in zip(node.keys, node.values, strict=True)
                ]
            )
        )

    def list_comprehension(self, node: ast.ListComp) -> Any:
        return _list_comp(self.expression(node.elt), self._for_in(node.generators))

    def set_comprehension(self, node: ast.SetComp) -> Any:
        return _set_comp(self.expression(node.elt), self._for_in(node.generators))

    def generator(self, node: ast.GeneratorExp) -> Any:
        return _generator(self.expression(node.elt), self._for_in(node.generators))

    def dict_comprehension(self, node: ast.DictComp) -> Any:
        if node.value is None:
            raise NotTranslatedError("unpacking in a comprehension")
        return _dict_comp(self.expression(node.key), self.expression(node.value), self._for_in(node.generators))

    def _for_in(self, generators: list[ast.comprehension]) -> Any:
        made = None
        for one in reversed(generators):
            made = _comp_for(
                self.expression(one.target),
                self.expression(one.iter),
                tuple([_comp_if(self.expression(test)) for test in one.ifs]),
                made,
                _asynchronous() if one.is_async else None,
            )
        return made

    def await_(self, node: ast.Await) -> Any:
        return _await(self.expression(node.value))

    def yield_(self, node: ast.Yield) -> Any:
        return _yield(self.optional(node.value))

    def yield_from(self, node: ast.YieldFrom) -> Any:
        return _yield(_from(self.expression(node.value)))

    def named(self, node: ast.NamedExpr) -> Any:
        return _named(self.expression(node.target), self.expression(node.value))

    def constant(self, node: ast.Constant) -> Any:
        value = node.value
        kind = type(value)
        if kind in _number:
            return _number[kind](self.source(node))
        if kind is str or kind is bytes:
            written = self.source(node)
            if _ONE_LITERAL.fullmatch(written):
                return _simple_string(written)
            return self._literal(written) or _simple_string(repr(value))
        return _ellipsis() if value is ... else _name(repr(value))

    def formatted(self, node: Any) -> Any:
        """An f-string, or a template."""
        return self._literal(self.source(node)) or cst.FormattedString(list(_fields(node)))

    def _literal(self, written: str) -> Any:
        """A literal of several parts, as LibCST reads it: CPython says where its parts stand from 3.12 on only.

        None where LibCST does not read it: it takes a backslash in a raw f-string for more than one.
        """
        try:
            node = cst.parse_expression(f"({written})")
        except LIBCST_ERRORS:
            return None
        node = node.with_changes(lpar=(), rpar=())
        self.literals.append(node)
        return node


def _fields(node: Any) -> Iterator[cst.FormattedStringExpression]:
    """The values in an f-string, of which nothing tells where they stand."""
    for part in node.values:
        if not isinstance(part, ast.Constant):
            yield cst.FormattedStringExpression(cst.parse_expression(ast.unparse(part.value)))
            if part.format_spec is not None:
                yield from _fields(part.format_spec)


def is_in_parentheses(written: str) -> bool:
    """Whether a tuple that begins with a parenthesis has it for its own: `(1, 2)`, not `(1), (2)`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        around = ast.parse(f"[{written}]", mode="eval").body
    assert isinstance(around, ast.List)
    return len(around.elts) == 1 and not written.endswith(",")


def _dotted(name: str) -> Any:
    first, *rest = name.split(".")
    node = _name(first)
    for part in rest:
        node = _attribute(node, _name(part))
    return node


def _place(node: Any) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _first(pair: tuple[tuple[int, int], Any]) -> tuple[int, int]:
    return pair[0]


_Method = Callable[[_Translator, Any], Any]

_SIMPLE: dict[type[ast.AST], _Method] = {
    ast.Expr: _Translator.expression_statement,
    ast.Assign: _Translator.assign,
    ast.AnnAssign: _Translator.annotated_assign,
    ast.AugAssign: _Translator.augmented_assign,
    ast.Return: _Translator.return_,
    ast.Raise: _Translator.raise_,
    ast.Assert: _Translator.assert_,
    ast.Delete: _Translator.delete,
    ast.Import: _Translator.import_,
    ast.ImportFrom: _Translator.import_from,
    ast.Global: _Translator.global_,
    ast.Nonlocal: _Translator.nonlocal_,
    ast.Pass: _Translator.plain,
    ast.Break: _Translator.plain,
    ast.Continue: _Translator.plain,
}
_COMPOUND: dict[type[ast.AST], _Method] = {
    ast.If: _Translator.if_,
    ast.While: _Translator.while_,
    ast.For: _Translator.for_,
    ast.AsyncFor: _Translator.for_,
    ast.Try: _Translator.try_,
    ast.With: _Translator.with_,
    ast.AsyncWith: _Translator.with_,
    ast.FunctionDef: _Translator.function,
    ast.AsyncFunctionDef: _Translator.function,
    ast.ClassDef: _Translator.class_,
    ast.Match: _Translator.match,
}
_PATTERNS: dict[type[ast.AST], _Method] = {
    ast.MatchValue: _Translator.match_value,
    ast.MatchSingleton: _Translator.match_singleton,
    ast.MatchSequence: _Translator.match_sequence,
    ast.MatchStar: _Translator.match_star,
    ast.MatchMapping: _Translator.match_mapping,
    ast.MatchClass: _Translator.match_class,
    ast.MatchOr: _Translator.match_or,
    ast.MatchAs: _Translator.match_as,
}
if hasattr(ast, "TryStar"):  # Python 3.11
    _COMPOUND[ast.TryStar] = _Translator.try_
if hasattr(ast, "TypeAlias"):  # Python 3.12
    _SIMPLE[ast.TypeAlias] = _Translator.type_alias
_EXPRESSIONS: dict[type[ast.AST], _Method] = {
    ast.Name: _Translator.name,
    ast.Attribute: _Translator.attribute,
    ast.Call: _Translator.call,
    ast.Subscript: _Translator.subscript,
    ast.BinOp: _Translator.binary,
    ast.BoolOp: _Translator.boolean,
    ast.UnaryOp: _Translator.unary,
    ast.Compare: _Translator.compare,
    ast.IfExp: _Translator.if_expression,
    ast.Lambda: _Translator.lambda_,
    ast.Tuple: _Translator.tuple_,
    ast.List: _Translator.list_,
    ast.Set: _Translator.set_,
    ast.Starred: _Translator.starred,
    ast.Dict: _Translator.dict_,
    ast.ListComp: _Translator.list_comprehension,
    ast.SetComp: _Translator.set_comprehension,
    ast.GeneratorExp: _Translator.generator,
    ast.DictComp: _Translator.dict_comprehension,
    ast.Await: _Translator.await_,
    ast.Yield: _Translator.yield_,
    ast.YieldFrom: _Translator.yield_from,
    ast.NamedExpr: _Translator.named,
    ast.Constant: _Translator.constant,
    ast.JoinedStr: _Translator.formatted,
}
if hasattr(ast, "TemplateStr"):  # Python 3.14
    _EXPRESSIONS[ast.TemplateStr] = _Translator.formatted
