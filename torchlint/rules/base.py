"""The shape of a rule, and what it hands back.

A rule is one class in one module, `rules/<bottleneck>/<rule_name>.py`. It names what it listens to, and yields
`Report`s from its handlers; the engine turns those into findings with positions, fingerprints and edits. A rule keeps
no state between files.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import libcst as cst

from torchlint.findings import Applicability, Confidence, Impact

if TYPE_CHECKING:
    from torchlint.semantics import sites
    from torchlint.semantics.model import Model

__all__ = ["FixAvailability", "NodeEdit", "NodeFix", "Report", "Rule", "RuleSet"]


class RuleSet(enum.Enum):
    """Whether a rule is on when nothing is configured."""

    DEFAULT = "default"
    EXTENDED = "extended"


class FixAvailability(enum.Enum):
    """Whether findings of a rule come with a fix."""

    NONE = "none"
    SOMETIMES = "sometimes"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class NodeEdit:
    """An edit said in terms of nodes; the engine finds their positions.

    The text of `node` is replaced by `content`. With `where` "before" or "after" the content is inserted at the
    node's edge instead, outside of its own parentheses; with "unwrap" these are replaced as well. With "line-before" or
    "line-after" it becomes lines of their own beside the statement `node`, and with "lines" in its place, indented as
    the statement is. With "argument" an argument goes, with a comma; with "delete" a statement, with its line when
    nothing else stands on it.
    """

    node: cst.CSTNode
    content: str
    where: str = "replace"


@dataclass(frozen=True, slots=True)
class NodeFix:
    """A repair said in terms of nodes.

    `imports` are statements the repair needs, such as "import numpy as np"; each is added once, where a person would
    put it, unless the file binds that name so already.
    """

    applicability: Applicability
    message: str
    edits: tuple[NodeEdit, ...] = ()
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What a rule found at `node`, the expression or statement that pays.

    `message` says what happens and where the cost comes from, `advice` what to write instead; one sentence each, about
    this code, without a capital at the beginning and a full stop at the end. `related` are places that explain it.
    `impact` is for a place that costs more or less than the rule's measured cost at the rate of the line says.
    """

    node: cst.CSTNode
    message: str
    advice: str
    confidence: Confidence = Confidence.LIKELY
    related: tuple[tuple[str, cst.CSTNode], ...] = ()
    fix: NodeFix | None = None
    impact: Impact | None = None


class Rule:
    """Base of all rules: metadata, and handlers that a rule overrides where it listens.

    A handler that a rule does not define costs nothing: the registry looks at which are overridden. `on_call` is woken
    for the names in `calls` alone: qualified names ("torch.cat", "float" for the builtin) and method names with a
    leading dot (".item"), whatever the receiver; "*" wakes it for every call.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    impact: ClassVar[Impact] = Impact.MEDIUM  # of one run per step; what benchmarks measured goes before it
    bottleneck: ClassVar[str]  # "sync", "launch", "traffic", "compute", "pipeline", "memory", ...
    summary: ClassVar[str]  # one line, what it reports
    ruleset: ClassVar[RuleSet] = RuleSet.DEFAULT
    fix_availability: ClassVar[FixAvailability] = FixAvailability.NONE
    since: ClassVar[str] = "0.1.0"  # the torchlint version that brought the rule
    torch: ClassVar[str] = "1.0"  # the torch version from which its advice holds
    calls: ClassVar[tuple[str, ...]] = ()
    # Words of which at least one stands in the text of every file in which the rule can fire.
    words: ClassVar[tuple[str, ...]] = ()
    # Whether they may stand in another file of its program instead: `torch.compile` on what this file defines.
    words_travel: ClassVar[bool] = False

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        """A call was evaluated."""
        raise NotImplementedError

    def on_truth(self, site: sites.Truth, model: Model) -> Iterator[Report]:
        """The truth value of an expression was taken."""
        raise NotImplementedError

    def on_format(self, site: sites.Format, model: Model) -> Iterator[Report]:
        """A value was turned into text."""
        raise NotImplementedError

    def on_subscript(self, site: sites.Subscript, model: Model) -> Iterator[Report]:
        """An object was indexed, to read or to write."""
        raise NotImplementedError

    def on_accumulate(self, site: sites.Accumulate, model: Model) -> Iterator[Report]:
        """A name or attribute grew by a value: `a += b`, `a = a + b`."""
        raise NotImplementedError

    def on_store(self, site: sites.Store, model: Model) -> Iterator[Report]:
        """A value went into a container or an attribute."""
        raise NotImplementedError

    def on_loop(self, site: sites.Loop, model: Model) -> Iterator[Report]:
        """A loop or a comprehension was entered."""
        raise NotImplementedError

    def on_binary(self, site: sites.Binary, model: Model) -> Iterator[Report]:
        """An arithmetic, matrix or comparison operator was applied."""
        raise NotImplementedError

    def on_function(self, site: sites.Function, model: Model) -> Iterator[Report]:
        """A function's body was read; its summary is complete."""
        raise NotImplementedError

    def on_class(self, site: sites.Class, model: Model) -> Iterator[Report]:
        """A class's body was read."""
        raise NotImplementedError

    def on_with(self, site: sites.With, model: Model) -> Iterator[Report]:
        """A context manager was entered."""
        raise NotImplementedError

    def on_module(self, model: Model) -> Iterator[Report]:
        """The whole file was read: for what only the whole can tell."""
        raise NotImplementedError
