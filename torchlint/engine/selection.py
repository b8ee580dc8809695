"""Which rules run: selectors, and what wins where they disagree.

A selector names a rule by its code (`TL101`) or its name (`sync-scalar-read`), or several by the beginning of their
codes (`TL1`, `TL`), by their bottleneck (`sync`), or all of them (`ALL`). The more specific one wins, whatever the
order; between equals an ignore wins over a selection.
"""

from __future__ import annotations

import difflib
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torchlint.rules.metadata import metadata

__all__ = [
    "META_RULES",
    "RuleInfo",
    "Selection",
    "UnknownSelectorError",
    "catalogue",
    "expand",
    "resolve",
    "rules_by_code",
]


@dataclass(frozen=True, slots=True)
class RuleInfo:
    """What is known of a rule without running it; plain data."""

    code: str
    name: str
    bottleneck: str
    summary: str
    default: bool  # on when nothing is configured
    fix: str = "none"  # "none", "sometimes" or "always"
    since: str = "0.1.0"  # the torchlint version that brought it
    torch: str = "1.0"  # the torch version from which its advice holds


# Rules of the engine itself: they look at comments and bytes, not at code.
META_RULES = (
    RuleInfo(
        "TL001",
        "unused-suppression",
        "suppression",
        "A suppression that suppresses nothing",
        default=True,
        fix="sometimes",
    ),
    RuleInfo("TL002", "invalid-suppression", "suppression", "A suppression that names no known rule", default=True),
    RuleInfo("TL003", "unreadable-file", "input", "A file that cannot be decoded or parsed", default=True),
)


class UnknownSelectorError(ValueError):
    """A selector that selects nothing; the message names it and the nearest right one."""


@functools.cache
def catalogue() -> tuple[RuleInfo, ...]:
    """Every rule there is, in the order of their codes."""
    rules = {info.code: info for info in META_RULES}
    for code, said in metadata().items():
        rules[code] = RuleInfo(
            code=code,
            name=said["name"],
            bottleneck=said["bottleneck"],
            summary=said["summary"],
            default=said.get("ruleset", "DEFAULT") == "DEFAULT",
            fix=said.get("fix_availability", "NONE").lower(),
            **{key: said[key] for key in ("since", "torch") if key in said},
        )
    return tuple(rules[code] for code in sorted(rules))


@functools.cache
def rules_by_code() -> Mapping[str, RuleInfo]:
    """Every rule there is, by its code."""
    return {rule.code: rule for rule in catalogue()}


# What a selector says, from the least to the most specific: all, the tool, a bottleneck, then each further digit.
_ALL, _TOOL, _BOTTLENECK, _PREFIX = 0, 1, 2, 2


@functools.cache
def _selectors() -> Mapping[str, tuple[int, frozenset[str]]]:
    """Every selector there is -> (specificity, the codes it selects)."""
    selectors: dict[str, tuple[int, set[str]]] = {}
    for rule in catalogue():
        code = rule.code
        names = [("ALL", _ALL), ("TL", _TOOL), (rule.bottleneck, _BOTTLENECK), (rule.name, _PREFIX + 2)]
        names += [(code[:length], _PREFIX + length - 3) for length in range(3, len(code) + 1)]
        for name, specificity in names:
            selectors.setdefault(name, (specificity, set()))[1].add(code)
    return {name: (specificity, frozenset(codes)) for name, (specificity, codes) in selectors.items()}


def expand(selector: str) -> frozenset[str]:
    """The codes that `selector` selects.

    Raises UnknownSelectorError where it selects none.
    """
    return _lookup(selector)[1]


def _lookup(selector: str) -> tuple[int, frozenset[str]]:
    found = _selectors().get(selector)
    if found is None:
        # Who mistyped a number meant a rule, not all those with its first digits.
        meant = [name for name in _selectors() if not (name.startswith("TL") and len(selector) > len(name) < 5)]
        raise UnknownSelectorError(f"no rule is called {selector!r}{nearest(selector, meant)}")
    return found


_LONGEST_WORD = 100  # what is longer was not mistyped


def nearest(word: str, words: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the word closest to `word`, or nothing where none is close. Case does not count."""
    folded = word.casefold()
    if len(folded) > _LONGEST_WORD:
        return ""

    def likeness(candidate: str) -> tuple[float, int]:
        """How alike they are; of those equally alike, how much of the beginning they share."""
        other = candidate.casefold()
        shared = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(folded, other, strict=False))
        return difflib.SequenceMatcher(None, folded, other).ratio(), len(list(shared))

    best = max(sorted(words), key=likeness, default="")
    return f"; did you mean {best!r}?" if likeness(best)[0] >= 0.6 else ""


@dataclass(frozen=True, slots=True)
class Selection:
    """What one source of configuration, a file or the command line, says about which rules run."""

    select: tuple[str, ...] | None = None  # None: says nothing, the selection below it holds
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


def resolve(selections: Sequence[Selection], default: Iterable[str]) -> frozenset[str]:
    """The codes that run, when `selections` are laid one on the other over the codes `default`, weakest first.

    A selection with a `select` replaces what stands below it; one without changes it. What a selection ignores without
    selecting anything itself still holds for a `select` laid on it, unless that is more specific.
    """
    selected = set(default)
    carried: tuple[str, ...] = ()
    for selection in selections:
        verdicts: dict[str, bool] = {}
        chosen = (*(selection.select or ()), *selection.extend_select)
        steps = [(*_lookup(selector), True) for selector in chosen]
        steps += [(*_lookup(selector), False) for selector in (*selection.ignore, *carried)]
        # Sorting is stable, so between equals an ignore comes last and wins.
        for _, codes, verdict in sorted(steps, key=lambda step: step[0]):
            verdicts.update(dict.fromkeys(codes, verdict))
        if selection.select is not None:
            selected.clear()
        selected.update(code for code, verdict in verdicts.items() if verdict)
        selected.difference_update(code for code, verdict in verdicts.items() if not verdict)
        carried = () if chosen else selection.ignore
    return frozenset(selected)
