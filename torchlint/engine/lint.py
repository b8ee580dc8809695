"""From one file to its findings."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from torchlint.engine.baseline import normalised
from torchlint.engine.settings import Settings
from torchlint.engine.suppression import Suppressions
from torchlint.findings import Applicability, Confidence, Finding, Fix, Impact, Position, Related
from torchlint.source import directives
from torchlint.source.scan import Scan, scan
from torchlint.source.stack import call_deep
from torchlint.source.text import SourceFile, UnreadableError

if TYPE_CHECKING:
    import libcst as cst

    from torchlint.rules.base import Report, Rule
    from torchlint.semantics.facts import Facts
    from torchlint.semantics.model import Model
    from torchlint.semantics.outside import Place, Rest
    from torchlint.source.modules import Modules
    from torchlint.source.parse import Tree

__all__ = [
    "FileResult",
    "Linked",
    "LinkedFile",
    "Part",
    "Program",
    "findings_of",
    "is_of_interest",
    "is_shown",
    "lint_bytes",
    "lint_linked",
    "lint_source",
    "places",
    "read_together",
    "reports_of",
    "unreadable",
]

_Report = tuple["type[Rule]", "Report"]
PartAt = Callable[[Position], str]


class LinkedFile(NamedTuple):
    """A file that is linted together with others; the fields are the arguments of `lint_source`."""

    source: SourceFile
    settings: Settings
    path: Path
    part_at: PartAt | None = None


@dataclass(frozen=True, slots=True)
class FileResult:
    """What linting one file gave."""

    findings: tuple[Finding, ...] = ()
    suppressed: int = 0  # findings that directives silenced
    errors: tuple[str, ...] = ()  # what failed in torchlint itself, one line each
    notes: tuple[str, ...] = ()  # why there is nothing to find, for those who ask, one line each
    unread: tuple[int | None, ...] = ()  # cells that cannot be read, whether or not that is reported; None for a file


def unreadable(
    filename: str,
    error: UnreadableError,
    settings: Settings,
    path: Path | None = None,
    *,
    cell: int | None = None,
    identity: str = "",
) -> FileResult:
    """The TL003 of a file, or of one cell of a notebook, that cannot be read, unless that rule is off.

    `identity` is the id by which the cell is known again, where it has one.
    """
    from torchlint.engine.selection import rules_by_code

    if "TL003" not in settings.rules_for(path or Path(filename)):
        return FileResult(unread=(cell,))
    rule = rules_by_code()["TL003"]
    at = Position(error.row, 1)
    return FileResult(
        (
            Finding(
                code=rule.code,
                name=rule.name,
                message=error.message,
                filename=filename,
                start=at,
                end=at,
                bottleneck=rule.bottleneck,
                confidence=Confidence.SURE,
                impact=Impact.LOW,
                fingerprint=_fingerprint(
                    "TL003", Path(filename).name, error.message, identity, 0 if identity else cell or 0
                ),
                cell=cell,
                cell_id=identity,
            ),
        ),
        unread=(cell,),
    )


def lint_bytes(data: bytes, filename: str, settings: Settings, path: Path | None = None) -> FileResult:
    """Lint the content of a file, which findings call `filename`; where it lies, `path`, decides per-file ignores."""
    try:
        source = SourceFile.from_bytes(data, filename)
    except UnreadableError as error:
        return unreadable(filename, error, settings, path)
    return lint_source(source, settings, path)


def lint_source(
    source: SourceFile, settings: Settings, path: Path | None = None, part_at: PartAt | None = None
) -> FileResult:
    """Lint a decoded file. Never raises for what the file holds: that becomes findings, and faults become errors.

    `part_at` tells the parts of a file apart that fingerprints tell apart: the cells of a notebook.
    """
    codes = settings.rules_for(path or Path(source.path))
    rules = _candidates(source, codes)
    has_directives = directives.may_have(source.text)
    if not rules and not has_directives:
        return FileResult()
    try:
        return call_deep(functools.partial(_lint, source, settings, codes, rules, has_directives, part_at=part_at))
    except UnreadableError as error:
        return unreadable(source.path, error, settings, path)
    except Exception as error:
        return _failed(source.path, error, settings, path)


def _failed(filename: str, error: Exception, settings: Settings, path: Path | None) -> FileResult:
    """The result of a file that is read and yet cannot be linted: what goes wrong with one stops no other."""
    if isinstance(error, RecursionError):
        return unreadable(filename, UnreadableError("too deeply nested"), settings, path)
    if isinstance(error, MemoryError):
        return FileResult(errors=(f"{filename}: there is not enough memory to lint it",))
    return FileResult(errors=(f"{filename}: internal error: {type(error).__name__}: {error}",))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a program that is read in place of the whole: which files are linted, and what the whole would tell."""

    linted: frozenset[int]
    rest: Rest


@dataclass(frozen=True, slots=True)
class Program:
    """What was found in files that were read as one program, and what they told one another, if that was wanted.

    `facts` are missing where the files could not be read together; where that is since a part of a program was too
    small for it, `missing` is a place that must be read as well.
    """

    results: dict[int, FileResult]
    facts: dict[int, Facts] | None = None
    missing: Place | None = None


def lint_linked(
    files: Mapping[int, LinkedFile], modules: Modules, part: Part | None = None, *, tell: bool = False
) -> Program:
    """Lint files that import one another as one program; `modules` knows them by the same numbers.

    With `tell` also what they told one another is found out.
    """
    return call_deep(functools.partial(_lint_linked, files, modules, part, tell))


def _lint_linked(files: Mapping[int, LinkedFile], modules: Modules, part: Part | None, tell: bool) -> Program:
    from torchlint.engine.screening import candidates
    from torchlint.rules.registry import all_rules
    from torchlint.semantics.facts import facts_of
    from torchlint.semantics.outside import Missing

    try:
        together, results = read_together(files, modules, part)
    except Missing as error:
        return Program({}, missing=error.place)
    except Exception:  # what fails together is read apart, where the failure costs and names one file
        return Program({number: lint_source(*file) for number, file in files.items()})
    for number, linked in together.items():
        if part is not None and number not in part.linted:
            continue
        source, settings, path, part_at = files[number]
        codes = settings.rules_for(path)
        rules = candidates(source.text, (rule for rule in all_rules() if rule.code in codes), linked=True)
        try:
            if linked.model.project is not None:
                linked.model.project.linted = linked.model
            has_directives = directives.may_have(source.text)
            results[number] = _lint(source, settings, codes, rules, has_directives, linked, part_at)
        except UnreadableError as error:
            results[number] = unreadable(source.path, error, settings, path)
        except Exception as error:
            results[number] = _failed(source.path, error, settings, path)
    facts = facts_of({n: linked.model for n, linked in together.items()}) if tell else None
    for linked in together.values():
        linked.model.release()
    return Program(results, facts)


def read_together(
    files: Mapping[int, LinkedFile], modules: Modules, part: Part | None = None
) -> tuple[dict[int, Linked], dict[int, FileResult]]:
    """The trees and models of files that are read as one program, and what is reported of those that cannot be read.

    To be called on a deep stack (`torchlint.source.stack`).
    """
    from torchlint.semantics.build import build_models
    from torchlint.source.parse import parse

    results: dict[int, FileResult] = {}
    trees: dict[int, Tree] = {}
    for number, (source, settings, path, _) in files.items():
        try:
            trees[number] = parse(source)
        except UnreadableError as error:
            results[number] = unreadable(source.path, error, settings, path)
        except RecursionError:
            results[number] = unreadable(source.path, UnreadableError("too deeply nested"), settings, path)
    rest = None if part is None else part.rest
    models = build_models({number: (tree.source.path, tree.module) for number, tree in trees.items()}, modules, rest)
    by_model = {model: trees[number] for number, model in models.items()}
    return {number: Linked(trees[number], model, by_model) for number, model in models.items()}, results


@dataclass(frozen=True, slots=True)
class Linked:
    """A file's tree and model, and the trees of the models that were read together with it."""

    tree: Tree
    model: Model
    trees: dict[Model, Tree]


def is_of_interest(text: str) -> bool:
    """Whether anything can be found in a file with this text; cheap."""
    from torchlint.engine.screening import has_signs

    return has_signs(text) or directives.may_have(text)


def _candidates(source: SourceFile, codes: frozenset[str]) -> list[type[Rule]]:
    from torchlint.engine.screening import candidates
    from torchlint.rules.registry import all_rules

    return candidates(source.text, (rule for rule in all_rules() if rule.code in codes))


def _lint(
    source: SourceFile,
    settings: Settings,
    codes: frozenset[str],
    rules: Sequence[type[Rule]],
    has_directives: bool,
    linked: Linked | None = None,
    part_at: PartAt | None = None,
) -> FileResult:
    read_here = linked is None
    scanned = scan(source.text) if linked is None else linked.tree.scan
    findings: list[Finding] = []
    errors: list[str] = []
    if rules:
        linked, errors = (linked, []) if linked is not None else _read(source, scanned)
        if linked is not None:
            reports, errors = reports_of(linked, rules)
            if reports:
                findings = list(findings_of(linked, reports, settings))
            if read_here:
                linked.model.release()
    suppressed = 0
    if has_directives:
        suppressions = Suppressions(source, scanned, directives.find(scanned), codes)
        kept = [finding for finding in findings if not suppressions.suppresses(finding)]
        suppressed = sum(is_shown(finding, settings) for finding in findings) - sum(
            is_shown(finding, settings) for finding in kept
        )
        meta = [*suppressions.invalid, *suppressions.unused()]
        findings = kept + [f for f in meta if f.code in codes and not suppressions.suppresses(f)]
    shown = [finding for finding in findings if is_shown(finding, settings)]
    return FileResult(tuple(_fingerprinted(shown, source, scanned, part_at)), suppressed, tuple(errors))


def is_shown(finding: Finding, settings: Settings) -> bool:
    """Whether the settings want findings as sure and as costly as this one."""
    return finding.confidence >= settings.min_confidence and (
        finding.impact >= settings.min_impact or finding.bottleneck in ("suppression", "input")
    )


def _read(source: SourceFile, scanned: Scan) -> tuple[Linked | None, list[str]]:
    """The tree and the model of a file that is read by itself, or why there is no model."""
    from torchlint.semantics.build import build_model
    from torchlint.source.parse import parse

    tree = parse(source, scanned)
    try:
        model = build_model(tree.module, source.path)
    except (RecursionError, UnreadableError):
        raise
    except Exception as error:
        return None, [f"{source.path}: internal error: the model failed: {type(error).__name__}: {error}"]
    return Linked(tree, model, {model: tree}), []


def reports_of(linked: Linked, rules: Sequence[type[Rule]]) -> tuple[list[_Report], list[str]]:
    """What the rules report. One that fails is named among the errors, and the others go on without it."""
    from torchlint.rules.registry import RuleFailure, run

    errors: list[str] = []
    left = list(rules)
    while True:
        try:
            return run(linked.model, left), errors
        except RuleFailure as failure:
            errors.append(f"{linked.tree.source.path}: internal error: {failure}")
            left.remove(failure.rule)


def findings_of(linked: Linked, reports: Sequence[_Report], settings: Settings) -> Iterable[Finding]:
    from torchlint.engine.edits import to_fix

    tree = linked.tree
    elsewhere = dict.fromkeys(node for _, report in reports for _, node in report.related)
    nodes = [report.node for _, report in reports]
    nodes += [edit.node for _, report in reports if report.fix for edit in report.fix.edits]
    spans = tree.locate([*nodes, *elsewhere])
    related = {node: (tree.source.path, spans[node][0]) for node in elsewhere if node in spans}
    related |= places(linked, [node for node in elsewhere if node not in spans])
    for rule, report in reports:
        if report.node not in spans:
            continue  # it stands in another file, and is reported with that
        start, end = spans[report.node]
        fix = None if report.fix is None else _graded(to_fix(report.fix, tree, spans), report, rule.code, settings)
        yield Finding(
            code=rule.code,
            name=rule.name,
            message=report.message,
            filename=tree.source.path,
            start=start,
            end=end,
            bottleneck=rule.bottleneck,
            confidence=report.confidence,
            impact=report.impact or rule.impact,
            fingerprint="",
            related=tuple(Related(what, *related[node]) for what, node in report.related),
            fix=fix,
            advice=report.advice,
        )


def places(linked: Linked, nodes: Iterable[cst.CSTNode]) -> dict[cst.CSTNode, tuple[str, Position]]:
    """The file and the place of nodes that stand in other files: in most cases the model knows in which."""
    left = dict.fromkeys(nodes)
    homes = {linked.model.home.get(node, linked.model) for node in left}
    places: dict[cst.CSTNode, tuple[str, Position]] = {}
    for model in (*homes, *linked.trees):
        tree = linked.trees[model]
        if left:
            found = tree.locate(left)
            places.update((node, (tree.source.path, span[0])) for node, span in found.items())
            left = {node: None for node in left if node not in found}
    return places


def _graded(fix: Fix, report: Report, code: str, settings: Settings) -> Fix:
    """The fix with the applicability that the configuration gives it.

    Where the finding is no more than possible, a person must look before results may change.
    """
    if fix.applicability is Applicability.UNSAFE and report.confidence is Confidence.POSSIBLE:
        return replace(fix, applicability=Applicability.DISPLAY)
    if fix.applicability is Applicability.UNSAFE and code in settings.extend_safe_fixes:
        return replace(fix, applicability=Applicability.SAFE)
    if fix.applicability is Applicability.SAFE and code in settings.extend_unsafe_fixes:
        return replace(fix, applicability=Applicability.UNSAFE)
    return fix


_DEFINITION = re.compile(r"(?:async\s+)?(?:def|class)\s+(\w+)")


def _fingerprinted(
    findings: Iterable[Finding], source: SourceFile, scanned: Scan, part_at: PartAt | None
) -> Iterable[Finding]:
    """The findings in order of place, each with what identifies it wherever its line moves to in the file."""
    seen: Counter[tuple[str, str, str]] = Counter()
    filename = Path(source.path).name
    owners: list[str] = []
    for finding in sorted(findings, key=lambda finding: (finding.start, finding.code, finding.end)):
        line = normalised(source.line(finding.start.row))
        index = scanned.index_at(source.offset(finding.start))
        if index is not None and not owners:
            owners = list(_owners(scanned))
        owner = "" if index is None else owners[index]
        if part_at is not None and (part := part_at(finding.start)):
            owner = f"{part}:{owner}"
        key = (finding.code, owner, line)
        yield replace(finding, fingerprint=_fingerprint(finding.code, filename, line, owner, seen[key]))
        seen[key] += 1


def _fingerprint(code: str, filename: str, line: str, owner: str, occurrence: int) -> str:
    parts = "\0".join((code, filename, owner, line, str(occurrence)))
    return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()[:16]


def _owners(scanned: Scan) -> Iterable[str]:
    """For each logical line the qualified name of the definition around it, by indentation; empty at module level."""
    around: list[tuple[int, str]] = []  # the lines that it is indented below: their columns, and what they define
    for line in scanned.logical_lines:
        column = line.code - line.start
        while around and around[-1][0] >= column:
            around.pop()
        yield ".".join(name for _, name in around if name)
        match = _DEFINITION.match(scanned.text, line.code)
        around.append((column, match[1] if match else ""))
