"""Why a line is or is not hot, what the model takes each value in it for, and what became of each rule that looked.

The file is read with the files of its project that it goes with, as `check` reads it. Why a rule stayed silent is found
by asking again: it is woken for the same line as if that were hot, and as if a value were a tensor on the device, and
what makes it speak is what kept it silent.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.engine.baseline import Baseline
from torchlint.engine.errors import UserError, short
from torchlint.engine.job import Job
from torchlint.engine.linking import groups
from torchlint.engine.lint import Linked, LinkedFile, findings_of, is_shown, places, read_together, reports_of
from torchlint.engine.notebooks import read_document, sound
from torchlint.engine.run import jobs_below
from torchlint.engine.selection import rules_by_code
from torchlint.engine.settings import Configuration, Settings
from torchlint.engine.suppression import Suppressions
from torchlint.findings import Finding, Position
from torchlint.source import directives
from torchlint.source.files import read_source
from torchlint.source.modules import Modules
from torchlint.source.notebook import Notebook, View, is_notebook
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.rules.base import Rule
    from torchlint.semantics.contexts import Context
    from torchlint.semantics.explaining import Reason
    from torchlint.semantics.sites import Sites
    from torchlint.semantics.values import Value

__all__ = ["Because", "Explanation", "Outcome", "Taken", "explain"]

_MOST_SOURCES = 3  # places named for one value


@dataclass(frozen=True, slots=True)
class Because:
    """Something that explains, and where it stands; a place of a file that was read together with the line's own."""

    message: str
    filename: str | None = None
    at: Position | None = None
    cell: int | None = None  # of a notebook


@dataclass(frozen=True, slots=True)
class Taken:
    """What the model takes a piece of the line for."""

    text: str
    at: Position
    words: str
    facts: dict[str, object]
    sources: tuple[Because, ...] = ()  # where it comes from


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one rule on the line.

    `outcome` is "reported", "suppressed", "baseline", "deselected", "below min-confidence", "below min-impact" or
    "silent".
    """

    code: str
    name: str
    outcome: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All there is to say about one line, which stands for the statement it is part of."""

    filename: str
    row: int
    rows: tuple[int, int]  # of the statement, or of the header of a compound one
    source: tuple[str, ...]  # these rows
    function: str | None  # around it
    together: int  # files that are read as one program with this one
    hot: bool
    rate: str | None  # what it runs once for, where it is hot
    chain: tuple[Because, ...]  # why it is hot, or why it is not, from the line outwards
    notes: tuple[str, ...] = ()  # what else holds here: autograd is off, compiled, a loader's worker
    values: tuple[Taken, ...] = ()
    rules: tuple[Outcome, ...] = ()


def explain(path: Path, row: int, configuration: Configuration) -> Explanation:
    """What there is to say about row `row`, from 1, of the file `path`.

    Raises UserError for a file that is not Python or cannot be read, and for a row without code.
    """
    name = short(path)
    if is_notebook(str(path)):
        raise UserError(f"{name}: is a notebook; explain reads Python files")
    try:
        source = SourceFile.from_bytes(read_source(path), name)
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnreadableError as error:
        raise UserError(f"{name}:{error.row}: {error.message}") from error
    if path.suffix not in (".py", ".pyi", ".pyw", ""):
        raise UserError(f"{name}: is not a Python file, as its name tells")
    rows = len(source.lines) - (not source.lines[-1])
    if not 1 <= row <= rows:
        raise UserError(f"{name}:{row}: there is no such line; the file has {rows}")
    return call_deep(functools.partial(_explain, path, source, row, configuration))


def _explain(path: Path, source: SourceFile, row: int, configuration: Configuration) -> Explanation:
    settings = configuration.for_file(path)
    together, notebooks = _read(Job(path, source.path, settings), configuration)
    line = _Line(together[0], row, settings, path, notebooks)
    return line.explained(len(together))


def _read(job: Job, configuration: Configuration) -> tuple[list[Linked], dict[str, View]]:
    """The file of a job, read together with the files of its project that it goes with; its own comes first.

    Beside them, the modules of those that are notebooks, by the names of these.
    """
    jobs = _project_of(job, configuration)
    own = next((n for n, other in enumerate(jobs) if other.path.absolute() == job.path.absolute()), None)
    jobs = [job, *jobs] if own is None else [job, *jobs[:own], *jobs[own + 1 :]]
    group = next(group for group in groups(jobs) if 0 in group.numbers)
    modules = group.modules or Modules.of([(0, job.path)])
    sources: dict[int, LinkedFile] = {}
    notebooks: dict[str, View] = {}
    place = 0
    for number in group.order:
        index = group.numbers[number]
        other = jobs[index]
        try:
            document = read_document(read_source(other.path), other.name)
        except (OSError, UnreadableError):
            continue
        if isinstance(document, Notebook):
            notebooks[other.name], _ = sound(document, other.settings, other.path)
            document = notebooks[other.name].source
        sources[number] = LinkedFile(document, other.settings, other.path)
        place = number if index == 0 else place
    linked, unreadable = read_together(sources, modules)
    if place not in linked:
        refused = unreadable[place].findings
        where = f"{job.name}:{refused[0].start.row}: {refused[0].message}" if refused else f"{job.name}: cannot be read"
        raise UserError(where)
    return [linked.pop(place), *linked.values()], notebooks


def _project_of(job: Job, configuration: Configuration) -> list[Job]:
    """The files of the project around a file: those below its configuration, or below the folder one works in.

    Of a file elsewhere, those of its package: what lies beside it in a folder of anything is none of its project.
    """
    path = job.path.absolute()
    root = job.settings.root.absolute()
    if root in path.parents:
        return jobs_below([root], configuration)
    packages = itertools.takewhile(lambda folder: (folder / "__init__.py").is_file(), path.parents)
    return jobs_below([*packages][-1:], configuration)


class _Line:
    """One logical line of a file that was read."""

    def __init__(self, linked: Linked, row: int, settings: Settings, path: Path, notebooks: Mapping[str, View]) -> None:
        from torchlint.semantics.nodes import below

        self.notebooks = notebooks
        self.linked, self.row, self.settings, self.path = linked, row, settings, path
        self.tree, self.model = linked.tree, linked.model
        self.source = self.tree.source
        name = self.source.path
        index = self.tree.scan.index_at(self.source.offset(Position(row, 1)))
        if index is None:
            raise UserError(f"{name}:{row}: holds no code")
        extent = self.tree.scan.logical_lines[index]
        self.start, self.end = extent.code, extent.end
        self.rows = self.source.position(self.start).row, self.source.position(self.end).row
        self.statements: list[cst.CSTNode] = [node for node in below(self.model.module) if _is_statement(node)]
        sites = self.model.sites
        nodes = [*self.statements, *self.model.values, *(node for node, _ in _contexts(sites))]
        nodes += [node for info in self.model.functions.values() for node, _, _ in info.return_sites]
        self.spans = self.tree.locate(nodes)
        self.here = {node for node, (start, _) in self.spans.items() if self._holds(start)}
        if _is_text_alone(next((node for node in self.statements if node in self.here), None)):
            raise UserError(f"{name}:{row}: holds no code, only text")
        self.sites = _on(sites, self.here)
        self.context = self._context()

    def _holds(self, at: Position) -> bool:
        return self.start <= self.source.offset(at) < self.end

    def explained(self, together: int) -> Explanation:
        """All there is to say."""
        from torchlint.semantics.explaining import why_cold

        model, context = self.model, self.context
        hot = model.hot(context)
        reasons: Sequence[Reason] = why_cold(context) if hot is None else hot.reasons
        owner = context.owner
        return Explanation(
            filename=self.source.path,
            row=self.row,
            rows=self.rows,
            source=tuple(self.source.line(row) for row in range(self.rows[0], self.rows[1] + 1)),
            function=None if owner is None else owner.qualname,
            together=together,
            hot=hot is not None,
            rate=None if hot is None else hot.rate.value,
            chain=self._placed(reasons),
            notes=tuple(self._notes()),
            values=tuple(self._values()),
            rules=tuple(self._rules()),
        )

    def _context(self) -> Context:
        """Where the line stands: of all that stands in it, what is around the others."""
        for site in self.sites.functions:
            if site.info.body is not None:  # of a header it is asked whether the body is hot
                return site.info.body
        found = [context for node, context in _contexts(self.sites) if node in self.here]
        for info in self.model.functions.values():
            found += [context for node, _, context in info.return_sites if node in self.here]
        if not found:
            found = list(self._contexts_beside())
        return min(found, key=lambda context: sum(1 for _ in context.chain()))

    def _contexts_beside(self) -> Iterator[Context]:
        """Contexts of the statements beside one that does nothing, else of what is around it."""
        by_node = dict(_contexts(self.model.sites))
        node = next((node for node in self.statements if node in self.here), None)
        around = self.model.parent(node) if node is not None else None
        beside = getattr(around, "body", ())
        for site_node, context in by_node.items():
            if any(self._is_in(site_node, other) for other in beside):
                yield context
        while around is not None:
            info = self.model.functions.get(around)
            if info is not None and info.body is not None:
                yield info.body
                return
            around = self.model.parent(around)
        assert self.model.root.body is not None
        yield self.model.root.body

    def _is_in(self, node: cst.CSTNode, statement: cst.CSTNode) -> bool:
        inner, outer = self.spans.get(node), self.spans.get(statement)
        return inner is not None and outer is not None and outer[0] <= inner[0] and inner[1] <= outer[1]

    def _notes(self) -> Iterator[str]:
        from torchlint.semantics import rounds, surroundings
        from torchlint.semantics.contexts import Iterates

        for site in self.sites.loops:
            rate = rounds.iterates(site.context)
            if rate is not Iterates.OTHER:
                yield f"each round of the loop here is one of {rate.value}"
        if self.model.autograd_off(self.context):
            yield "autograd is off here"
        compiled = self.model.compiled(self.context)
        if compiled is not None:
            yield f"it is compiled, with `{compiled.qualname}`"
        if surroundings.in_worker(self.context):
            yield "it runs in a loader's worker"

    def _placed(self, reasons: Sequence[Reason]) -> tuple[Because, ...]:
        nodes = [node for _, node in reasons if node is not None]
        at = places(self.linked, nodes)
        return tuple(
            self._because(message, *at[node]) if node is not None and node in at else Because(message)
            for message, node in reasons
        )

    def _because(self, message: str, filename: str, at: Position) -> Because:
        view = self.notebooks.get(filename)
        cell, at = (None, at) if view is None else view.locate(at)
        return Because(message, filename, at, cell)

    def _text(self, node: cst.CSTNode) -> str:
        start, end = self.spans[node]
        return " ".join(self.source.text[self.source.offset(start) : self.source.offset(end)].split())

    def _values(self) -> Iterator[Taken]:
        """What the names and expressions of the line are, in their order, the larger ones first."""
        from torchlint.semantics.explaining import facts, in_words

        called = {site.node.func for site in self.sites.calls}
        taken = {
            node: value
            for node, value in self.model.values.items()
            if node in self.here and node not in called and _tells(node, value)
        }
        for site in self.model.sites.assigns:
            if site.target in self.here or site.node in self.here:
                taken[site.target] = site.value
        self.spans |= self.tree.locate([node for node in taken if node not in self.spans])
        seen: set[tuple[str, str]] = set()
        for node, value in sorted(taken.items(), key=lambda item: _order(self.spans.get(item[0]))):
            if node not in self.spans:
                continue
            said = self._text(node), in_words(value)
            if said not in seen:
                seen.add(said)
                sources = self._placed(list(itertools.islice(self._sources(node, value), _MOST_SOURCES)))
                yield Taken(said[0], self.spans[node][0], said[1], facts(value), sources)

    def _sources(self, node: cst.CSTNode, value: Value) -> Iterator[Reason]:
        """Where a value comes from: what made it elsewhere, and who passes it."""
        passed: set[cst.CSTNode] = set()
        owner = self.context.owner
        if value.ident is not None and owner is not None and value.ident < len(owner.parameters):
            parameter = owner.parameters[value.ident]
            if parameter.index or owner.method not in ("instance", "class", "property"):
                yield f"parameter `{parameter.name}` of `{owner.qualname}`", owner.node
            for site in parameter.passed:
                passed.add(site)
                yield f"passed for `{parameter.name}`", site
        for origin in value.origins:
            if origin is not node and origin not in self.here and origin not in passed:
                yield "made here", origin

    # Rules

    def _rules(self) -> list[Outcome]:
        """What became of each rule that looked at the line or reports it, those that spoke first."""
        from torchlint.engine.screening import candidates
        from torchlint.rules.registry import all_rules, woken

        linked = len(self.linked.trees) > 1
        rules = candidates(self.source.text, all_rules(), linked=linked)
        reports, _ = reports_of(self.linked, rules)
        found = list(findings_of(self.linked, reports, self.settings))
        spoken = list(self._spoken(found))
        heard = {outcome.code for outcome in spoken}
        silent = [self._silent(rule) for rule in woken(rules, self.sites) if rule.code not in heard]
        return [*spoken, *sorted(silent, key=lambda outcome: not outcome.reason)]

    def _spoken(self, found: Sequence[Finding]) -> Iterator[Outcome]:
        """The outcomes of the rules that find something in the line."""
        settings, selected = self.settings, self.settings.rules_for(self.path)
        suppressions = Suppressions(self.source, self.tree.scan, directives.find(self.tree.scan), selected)
        silencing = {id(finding): suppressions.silencing(finding) for finding in found if finding.code in selected}
        shown = [f for f in found if f.code in selected and not silencing[id(f)] and is_shown(f, settings)]
        known: list[Finding] = []
        if settings.baseline is not None:
            lines = self.source.lines
            known = Baseline.read(settings.baseline).split(shown, lambda _name, _cell: lines, (), ()).known
        meta = [f for f in (*suppressions.invalid, *suppressions.unused()) if f.code in selected]
        for finding in (*found, *meta):
            if not self._holds(finding.start):
                continue
            outcome, reason = "reported", f"{finding.impact} impact, {finding.confidence}"
            if finding.code not in selected:
                outcome, reason = "deselected", self._why_deselected(finding.code)
            elif silenced := silencing.get(id(finding)):
                row = self.source.position(silenced[0].start).row
                outcome, reason = "suppressed", f"by the comment in line {row}"
            elif finding.confidence < settings.min_confidence:
                outcome = "below min-confidence"
                reason = f"{finding.confidence}, and min-confidence is {settings.min_confidence}"
            elif not is_shown(finding, settings):
                outcome, reason = "below min-impact", f"{finding.impact}, and min-impact is {settings.min_impact}"
            elif any(finding is other for other in known):
                assert settings.baseline is not None
                outcome, reason = "baseline", f"accepted by {short(settings.baseline)}"
            yield Outcome(finding.code, finding.name, outcome, reason, finding.message)

    def _why_deselected(self, code: str) -> str:
        rule = rules_by_code()[code]
        if code in self.settings.rules:
            return "switched off for this file by per-file-ignores"
        if self.settings.torch_version is not None:
            from packaging.version import Version

            if Version(rule.torch) > Version(self.settings.torch_version):
                return f"its advice needs torch {rule.torch}, and torch-version is {self.settings.torch_version}"
        return "ignored, or not selected" if rule.default else "not on by default and not selected"

    def _silent(self, rule: type[Rule]) -> Outcome:
        """A rule that was woken and reports nothing, with what would make it speak."""
        reason = next((doubt for doubt in self._doubts if self._speaks(rule, doubt)), None)
        return Outcome(rule.code, rule.name, "silent", "" if reason is None else reason.message)

    @functools.cached_property
    def _doubts(self) -> Sequence[_Doubt]:
        """What may keep rules silent, one thing alone first."""
        single = list(self._single_doubts())
        cold = [doubt for doubt in single if doubt.node is None]
        values = [doubt for doubt in single if doubt.node is not None]
        both = [_Doubt(f"{a.message}, and {b.message}", b.node, b.value, hot=True) for a in cold for b in values]
        return [*single, *both]

    def _single_doubts(self) -> Iterator[_Doubt]:
        from torchlint.findings import Confidence
        from torchlint.semantics.values import ATTACHED, DEVICE, HOST, Kind

        if self.model.hot(self.context) is None:
            yield _Doubt("the line is not hot", None, None, hot=True)
        for node, value in self.model.values.items():
            if node not in self.here or value.kind not in (Kind.TENSOR, Kind.BATCH, Kind.UNKNOWN, Kind.NUMBER):
                continue
            if value.kind is Kind.TENSOR and value.device == DEVICE and value.graph == ATTACHED:
                continue
            if value.kind is Kind.NUMBER and not _is_name(node):
                continue
            what = (
                "is taken to be on the host"
                if value.kind is Kind.TENSOR and value.device == HOST
                else "is not known to be on the device"
                if value.kind in (Kind.TENSOR, Kind.BATCH)
                else "is not known to be a tensor"
                if value.kind is Kind.UNKNOWN
                else "is taken for a Python number"
            )
            other = value.but(kind=Kind.TENSOR, device=DEVICE, graph=ATTACHED, conf=Confidence.SURE)
            yield _Doubt(f"`{self._text(node)}` {what}", node, other, hot=False)

    def _speaks(self, rule: type[Rule], doubt: _Doubt) -> bool:
        """Whether a rule reports something in the line where what is doubted holds."""
        from torchlint.rules.registry import RuleFailure, run

        sites = self.sites if doubt.node is None or doubt.value is None else _with(self.sites, doubt.node, doubt.value)
        with self._supposing(doubt):
            try:
                return any(report.node in self.here for _, report in run(self.model, [rule], sites))
            except RuleFailure:
                return False

    @contextmanager
    def _supposing(self, doubt: _Doubt) -> Iterator[None]:
        """The model as if what is doubted held: of the line's own contexts and values alone."""
        from torchlint.semantics.contexts import Iterates
        from torchlint.semantics.hotness import Hot

        contexts = {id(context): context for _, context in _contexts(self.sites)} if doubt.hot else {}
        heat = [(context, context.heat) for context in contexts.values()]
        statement = next((node for node in self.statements if node in self.here), self.model.module)
        for context, _ in heat:
            context.heat = Hot((("if it were hot", statement),), Iterates.STEPS, trains=True, interface=True, loop=None)
        before = self.model.values.get(doubt.node) if doubt.node is not None else None
        if doubt.node is not None and doubt.value is not None:
            self.model.values[doubt.node] = doubt.value
        try:
            yield
        finally:
            for context, was in heat:
                context.heat = was
            if doubt.node is not None and before is not None:
                self.model.values[doubt.node] = before


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Something the model says that may be why a rule is silent, and what would hold instead."""

    message: str
    node: cst.CSTNode | None
    value: Value | None
    hot: bool


def _is_statement(node: cst.CSTNode) -> bool:
    import libcst as cst

    return isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement))


def _is_text_alone(node: cst.CSTNode | None) -> bool:
    import libcst as cst

    if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
        return False
    only = node.body[0]
    return isinstance(only, cst.Expr) and isinstance(only.value, (cst.SimpleString, cst.ConcatenatedString))


def _is_name(node: cst.CSTNode) -> bool:
    import libcst as cst

    return isinstance(node, (cst.Name, cst.Attribute))


def _tells(node: cst.CSTNode, value: Value) -> bool:
    """Whether it says anything to a person: literals and the functions of calls are plain to see."""
    import libcst as cst

    from torchlint.semantics.values import Kind

    if isinstance(node, (cst.BaseNumber, cst.BaseString, cst.Tuple, cst.List, cst.Dict, cst.Lambda)):
        return False
    return value.kind not in (Kind.FUNCTION, Kind.CLASS, Kind.NAMESPACE, Kind.NONE, Kind.STRING)


def _order(span: tuple[Position, Position] | None) -> tuple[int, int, int, int]:
    if span is None:
        return (0, 0, 0, 0)
    start, end = span
    return start.row, start.column, -end.row, -end.column


def _kinds(sites: Sites) -> list[str]:
    """The names of the lists of sites, without what these are looked up by."""
    return [entry.name for entry in fields(sites) if entry.init]


def _contexts(sites: Sites) -> Iterator[tuple[cst.CSTNode, Context]]:
    """The node of each site with where it stands."""
    for kind in _kinds(sites):
        for site in getattr(sites, kind):
            context = getattr(site, "outer", None) or getattr(site, "context", None)
            if context is not None:
                yield site.node, context


def _on(sites: Sites, nodes: set[cst.CSTNode]) -> Sites:
    """The sites whose node is one of `nodes`."""
    return type(sites)(**{kind: [s for s in getattr(sites, kind) if s.node in nodes] for kind in _kinds(sites)})


# Of each kind of site, what it holds of which node.
_HELD = {
    "calls": (("receiver_node", "receiver"),),
    "truths": (("node", "value"),),
    "formats": (("part", "value"),),
    "stores": (("stored", "value"),),
    "accumulations": (("addend", "added"),),
    "binaries": (("left_node", "left"), ("right_node", "right")),
}


def _with(sites: Sites, node: cst.CSTNode, value: Value) -> Sites:
    """The sites as they would be if `node` had that value."""
    changed: dict[str, list[Any]] = {kind: list(getattr(sites, kind)) for kind in _kinds(sites)}
    for name, held in _HELD.items():
        for at, site in enumerate(changed[name]):
            swaps: dict[str, Any] = {attribute: value for of, attribute in held if getattr(site, of) is node}
            if name == "calls":
                swaps["arguments"] = [
                    replace(argument, value=value) if argument.node is node else argument for argument in site.arguments
                ]
            changed[name][at] = replace(site, **swaps) if swaps else site
    changed["subscripts"] = [
        replace(site, base=value) if site.node.value is node else site for site in changed["subscripts"]
    ]
    return type(sites)(**changed)
