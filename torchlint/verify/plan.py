"""Experiments for findings: a plan is plain JSON, made where the code is and run where a GPU is.

For each finding a plan holds a ladder of experiments, from the most faithful to the rule's own pair; a run climbs down
until one can be measured. Findings share experiments that are the same.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

from torchlint import __version__
from torchlint.engine.regions import code_hash
from torchlint.findings import Finding
from torchlint.rules import pages
from torchlint.verify import evidence, extract, hints, inert, inputs, policy, repairs, told, trees
from torchlint.verify.supervise import Limits

__all__ = ["Choices", "Unfit", "from_pages", "make", "template"]

# Rules whose cost lies between statements: waits, transfers, retention, timing, compilation, replicas.
BETWEEN_STATEMENTS = ("TL1", "TL5", "TL6", "TL7", "TL8", "TL9")
# Rules whose cost a block of statements shows by itself: what it waits for, computes or moves stands in it.
WITHIN_BLOCKS = ("TL1", "TL2", "TL3", "TL503", "TL504", "TL508", "TL509", "TL511", "TL606")
# Rules about what is set once and costs in every step.
SETTINGS = ("TL205", "TL405")
# Rules about compiled code: there the module is measured compiled, as it is used.
COMPILED = ("TL803",)
CALLS = 8  # of code without a loop of its own, one after the other, as its caller's loop does
_known = lru_cache(maxsize=4)(told.told)  # the findings of a file come together
Source = Callable[[str, "int | None"], Sequence[str]]


class Unfit(Exception):
    """A rung that a finding cannot stand on; the text says why."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose.

    Attributes:
        size: of the templates' inputs, "small", "medium" or "large".
        dtype: of the templates' inputs, where the code does not say.
        allow: modules that measured code may use besides the listed ones.
        limits: for each experiment.
    """

    size: str = "medium"
    dtype: str = "float32"
    allow: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


def make(findings: Iterable[Finding], source: Source, choices: Choices) -> dict[str, Any]:
    """The plan for some findings.

    Args:
        findings: of any rules; those without a repair that can be run are listed with the reason.
        source: gives the lines of a file, or of one of its cells.
        choices: the user's.
    """
    experiments: dict[str, dict[str, Any]] = {}
    entries = []
    for finding in findings:
        lines = source(finding.filename, finding.cell)
        ladder, tried = [], []
        for rung in _rungs(finding, lines, choices):
            if isinstance(rung, Refused):
                tried.append(asdict(rung))
                continue
            try:
                rung["id"] = _identity(rung)
            except (TypeError, ValueError):  # a default or a literal of the code's own
                tried.append({"rung": rung["rung"], "reason": "one of its inputs is a value that a plan cannot hold"})
                continue
            experiments.setdefault(rung["id"], rung)
            ladder.append(rung["id"])
        entries.append(
            {
                "fingerprint": finding.fingerprint,
                "code": finding.code,
                "name": finding.name,
                "filename": finding.filename,
                "row": finding.start.row,
                "column": finding.start.column,
                "code_hash": code_hash(lines, finding.start.row),
                "ladder": ladder,
                "tried": tried,
                "reason": "" if ladder else "; ".join(step["reason"] for step in tried),
            }
        )
    return _plan(experiments, entries, choices)


def from_pages(codes: Iterable[str], sizes: Sequence[str], dtypes: Sequence[str], choices: Choices) -> dict[str, Any]:
    """A plan of the pages' own pairs at several sizes and dtypes, without findings."""
    experiments: dict[str, dict[str, Any]] = {}
    for code in codes:
        for size in sizes:
            for dtype in dtypes:
                try:
                    experiment = template(code, size, dtype)
                except Unfit:
                    continue
                experiment["id"] = _identity(experiment)
                experiments[experiment["id"]] = experiment
    return _plan(experiments, [], choices)


def _plan(experiments: Mapping[str, Any], entries: list[dict[str, Any]], choices: Choices) -> dict[str, Any]:
    return {
        "version": evidence.VERSION,
        "torchlint": __version__,
        "limits": asdict(choices.limits),
        "experiments": list(experiments.values()),
        "findings": entries,
    }


def _identity(experiment: Mapping[str, Any]) -> str:
    """The same for experiments that measure the same."""
    what = {key: value for key, value in experiment.items() if key != "label"}
    return hashlib.sha256(json.dumps(what, sort_keys=True, allow_nan=False).encode()).hexdigest()[:16]


def template(code: str, size: str, dtype: str) -> dict[str, Any]:
    """The experiment of a rule's own pair.

    Raises:
        Unfit: the rule's page has no pair that can be run.
    """
    try:
        pair = pages.load(code).pair
    except pages.PageError as error:
        raise Unfit(str(error)) from error
    if pair is None:
        raise Unfit(f"the page of {code} has no pair that can be run")
    bad, good, inputs = (block.source for block in pair)
    constants = _constants(inputs)
    parameters = constants["SIZES"][size]
    shown = [
        {"name": name, "shown": str(value), "origin": f"the page of {code}, {size}"}
        for name, value in parameters.items()
    ]
    return {
        "rung": "template",
        "rule": code,
        "label": f"{code} template {size} {dtype}",
        "before": bad,
        "after": good,
        "inputs": inputs,
        "entry": constants["ENTRY"],
        "size": parameters,
        "dtype": dtype,
        "criterion": evidence.CRITERIA.get(code, "time"),
        "shown": [*shown, {"name": "dtype", "shown": dtype, "origin": "chosen"}],
        "stand_ins": [],
    }


def _constants(source: str) -> dict[str, Any]:
    """ENTRY and SIZES of a page's `inputs` block, read without running it."""
    found = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            if statement.targets[0].id in ("ENTRY", "SIZES"):
                found[statement.targets[0].id] = ast.literal_eval(statement.value)
    return found


@dataclass(frozen=True, slots=True)
class Refused:
    """A rung on which a finding cannot stand, and why."""

    rung: str
    reason: str


def _rungs(finding: Finding, lines: Sequence[str], choices: Choices) -> Iterator[dict[str, Any] | Refused]:
    """The experiments for a finding, from the most faithful to the rule's own pair."""
    try:
        yield from _cut(finding, lines, choices)
    except (Unfit, extract.Uncut, hints.HintError) as error:
        yield Refused("in place", str(error))
    except (RecursionError, MemoryError):
        yield Refused("in place", "its code is nested too deeply")
    except ValueError:  # Python writes out no number of more than some thousand digits
        yield Refused("in place", "its code holds a number that is too large to write out")
    try:
        yield template(finding.code, choices.size, choices.dtype)
    except Unfit as error:
        yield Refused("template", str(error))


def _cut(finding: Finding, lines: Sequence[str], choices: Choices) -> Iterator[dict[str, Any] | Refused]:
    """The experiments made of the flagged code itself."""
    if finding.cell is not None:
        raise Unfit("code in a notebook's cell needs the cells before it")
    found = list(repairs.ways(finding, lines))
    if not found:
        raise Unfit("the repair needs a decision, so there is nothing to run it against")
    hinted = hints.hints(lines)
    whole_loops = finding.code.startswith((*BETWEEN_STATEMENTS, *SETTINGS))
    blocks = finding.code.startswith(WITHIN_BLOCKS) and finding.code not in SETTINGS
    made: list[dict[str, Any] | Refused] = []
    for repair in found:
        after = extract.repaired(lines, repair.edits)
        try:
            for piece in extract.pieces(finding, lines, after, repair.edits, whole_loops, blocks):
                made += _experiments(finding, lines, piece, repair, hinted, choices)
        except extract.Uncut as error:
            made.append(Refused("in place", str(error)))
    for rung in ("in place", "extracted"):
        yield from (one for one in made if (one.rung if isinstance(one, Refused) else one["rung"]) == rung)


def _experiments(
    finding: Finding,
    lines: Sequence[str],
    piece: extract.Piece,
    repair: repairs.Repair,
    hinted: Mapping[str, Mapping[str, Any]],
    choices: Choices,
) -> Iterator[dict[str, Any] | Refused]:
    """The experiment made of a piece of the code, or why the policy refuses it; then one without other modules."""
    pair = [inert.quiet(unit, choices.allow) for unit in (piece.before, piece.after)]
    made = _of(finding, lines, piece, repair, hinted, choices, pair)
    yield made
    if not isinstance(made, Refused):
        return
    others = [inert.without(quieted, choices.allow) for quieted in pair]
    if any(one.foreign or one.replaced for one in others):
        yield _of(finding, lines, replace(piece, rung="extracted"), repair, hinted, choices, others)


def _of(
    finding: Finding,
    lines: Sequence[str],
    piece: extract.Piece,
    repair: repairs.Repair,
    hinted: Mapping[str, Mapping[str, Any]],
    choices: Choices,
    pair: Sequence[inert.Quiet],
) -> dict[str, Any] | Refused:
    """The experiment on a piece without what its two codes leave out."""
    before, after = pair
    missing = {**before.names, **after.names}
    if finding.code.startswith("TL9") and any(full.startswith("torch.distributed") for full in missing.values()):
        return Refused(piece.rung, "it needs several processes")
    compiled = finding.code in COMPILED
    text = "\n".join(lines)
    wanted = inputs.needs(
        before.unit,
        text,
        hinted,
        missing,
        compiled=compiled,
        on_host=finding.code.startswith("TL5"),
        pinned=finding.code == "TL503",
        selecting=finding.code == "TL105",
        hosted=finding.code == "TL109",
        known=_known(text),
        around=piece.around,
        foreign={**before.foreign, **after.foreign},
    )
    experiment = {
        "rung": piece.rung,
        "rule": finding.code,
        "label": f"{finding.filename}:{finding.start.row} {finding.code} {piece.rung}",
        "before": before.unit.source,
        "after": after.unit.source,
        "inputs": None,
        "entry": piece.before.entry,
        "arguments": wanted.arguments,
        "globals": wanted.globals,
        "sizes": inputs.sizes(choices.size),
        "widths": wanted.widths,
        "dtype": choices.dtype,
        "rows": extract.statement_rows(lines, finding.start.row) if piece.before.entry else [0, 0],
        "calls": CALLS if finding.code.startswith(BETWEEN_STATEMENTS) else 1,
        "criterion": evidence.CRITERIA.get(finding.code, "time"),
        "probe": repair.probe,
        "compiled": compiled,
        "allow": list(choices.allow),
        "attributes": sorted(wanted.attributes),
        "stand_ins": [
            *wanted.stand_ins,
            *before.replaced,
            f"measured: {piece.what}; repaired: {repair.what}",
        ],
    }
    if experiment["criterion"] == "growth" and not (_given_graphs(wanted) or _makes_graphs(before.unit.tree)):
        return Refused(piece.rung, "nothing in it makes a graph that could be kept")
    if finding.code == "TL203" and not any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(before.unit.function)):
        return Refused(piece.rung, "there is no loop in it, in which the tensor grows")
    if finding.code == "TL208" and not (_given_arrays(wanted) or _makes_arrays(before.unit.tree)):
        return Refused(piece.rung, "nothing in it says which arrays the list holds")
    try:
        check_policy(experiment)
    except Unfit as error:
        return Refused(piece.rung, str(error))
    return experiment


def _given_graphs(wanted: inputs.Needs) -> bool:
    """Whether a piece is called with parameters, with what has some, or with tensors that have gradients."""
    with_parameters = ("network", "parameters", "optimizer", "result")
    return any(
        one.get("kind") in with_parameters or one.get("grad") is True
        for one in inputs.descriptions([wanted.arguments, wanted.globals])
    )


def _makes_graphs(tree: ast.Module) -> bool:
    """Whether code makes layers or parameters, or runs backward."""
    return trees.trains(tree) or any(
        _is_of_nn(node)
        or (isinstance(node, ast.Attribute) and node.attr.startswith("requires_grad"))
        or (isinstance(node, ast.keyword) and node.arg == "requires_grad")
        for node in ast.walk(tree)
    )


def _is_of_nn(node: ast.AST) -> bool:
    """`nn.Linear`, `torch.nn.functional`, also where it is imported."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        paths = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        return any("nn" in path.split(".")[:-1] for path in paths)
    return isinstance(node, ast.Attribute) and ast.unparse(node.value).rpartition(".")[2] == "nn"


def _given_arrays(wanted: inputs.Needs) -> bool:
    return any(one.get("kind") == "array" for one in inputs.descriptions(wanted.arguments))


def _makes_arrays(tree: ast.Module) -> bool:
    """Whether code uses NumPy."""
    return any(
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy")
        for node in ast.walk(tree)
    )


def check_policy(experiment: Mapping[str, Any]) -> None:
    """Refuse before anything runs.

    Raises:
        Unfit: with the policy's first reason.
    """
    for label in ("before", "after"):
        given = (tuple(experiment[key]) for key in ("allow", "attributes", "globals"))
        if refusal := _refusal(experiment[label], *given):
            raise Unfit(f"refused: {refusal}")


@lru_cache(maxsize=64)  # the code as it is written is that of several repairs
def _refusal(source: str, allow: tuple[str, ...], attributes: tuple[str, ...], names: tuple[str, ...]) -> str:
    return next(map(str, policy.check(source, allow, attributes, names)), "")
