"""Which rules there are, and how a model's sites reach them."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from typing import Any

from torchlint.rules import base
from torchlint.rules._impact import graded
from torchlint.rules.base import Report, Rule
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.sites import Sites
from torchlint.source.text import UnreadableError

# Handler to the list of sites it listens to.
_SITES = {
    "on_truth": "truths",
    "on_format": "formats",
    "on_subscript": "subscripts",
    "on_accumulate": "accumulations",
    "on_store": "stores",
    "on_loop": "loops",
    "on_binary": "binaries",
    "on_with": "withs",
    "on_function": "functions",
    "on_class": "classes",
}


class RuleFailure(Exception):
    """A rule raised: a fault of torchlint, not of the code it reads."""

    def __init__(self, rule: type[Rule], error: Exception) -> None:
        said = str(error).partition("\n")[0]  # of a node that is missing, LibCST writes pages
        super().__init__(f"{rule.code} ({rule.name}) failed: {type(error).__name__}: {said}")
        self.rule = rule


@functools.cache
def all_rules() -> tuple[type[Rule], ...]:
    """Every rule, in the order of codes. A rule is found by standing in a module below `torchlint.rules`."""
    import torchlint.rules as package

    found: dict[str, type[Rule]] = {}
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name.rsplit(".", 1)[-1].startswith("_") or module.name == __name__ or module.ispkg:
            continue
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, type) and issubclass(item, Rule) and "code" in vars(item):
                found[item.code] = item
    return tuple(rule for _, rule in sorted(found.items()))


def _context(site: Any) -> Context | None:
    """Where the site's own node runs, which for a loop is around its body; None where that is not one place."""
    found = getattr(site, "outer", None) or getattr(site, "context", None)
    assert found is None or isinstance(found, Context)
    return found


def _handles(rule: type[Rule], handler: str) -> bool:
    return getattr(rule, handler) is not getattr(base.Rule, handler)


def run(model: Model, rules: Iterable[type[Rule]], sites: Sites | None = None) -> list[tuple[type[Rule], Report]]:
    """What the rules report on a model, each place once a rule, with its impact. Raises RuleFailure where one fails.

    With `sites`, only these of the model's wake them. Raises UnreadableError where the text of a node cannot be told.
    """
    reports: list[tuple[type[Rule], Report]] = []
    seen: set[tuple[str, int]] = set()

    def take(rule: Rule, found: Iterator[Report], context: Context | None) -> None:
        try:
            for report in found:
                key = (rule.code, id(report.node))
                if key not in seen:
                    seen.add(key)
                    reports.append((type(rule), graded(report, type(rule), context)))
        except UnreadableError:
            raise  # no fault of the rule
        except Exception as error:
            raise RuleFailure(type(rule), error) from error

    kinds = tuple(rules)
    for rule, handler, site in _awakenings(kinds, model.sites if sites is None else sites):
        take(rule, getattr(rule, handler)(site, model), _context(site))
    for kind in kinds if sites is None else ():
        if _handles(kind, "on_module"):
            rule = kind()
            take(rule, rule.on_module(model), None)
    return reports


def woken(rules: Iterable[type[Rule]], sites: Sites) -> list[type[Rule]]:
    """The rules that listen to at least one of the sites, in the order of `rules`."""
    kinds = tuple(rules)
    awake = {type(rule) for rule, _, _ in _awakenings(kinds, sites)}
    return [kind for kind in kinds if kind in awake]


def _awakenings(kinds: tuple[type[Rule], ...], sites: Sites) -> Iterator[tuple[Rule, str, Any]]:
    """Each rule with the handler and the site that wakes it."""
    by_call: dict[str, list[Rule]] = {}
    by_site: dict[str, list[Rule]] = {}
    for kind in kinds:
        rule = kind()
        if _handles(kind, "on_call"):
            for name in kind.calls:
                by_call.setdefault(name, []).append(rule)
        for handler in _SITES:
            if _handles(kind, handler):
                by_site.setdefault(handler, []).append(rule)

    everywhere = by_call.get("*", [])
    for call in sites.calls if by_call else ():
        awake = [*everywhere]
        if call.callee is not None:
            awake += by_call.get(call.callee, ())
        if call.method is not None:
            awake += by_call.get("." + call.method, ())
        for rule in dict.fromkeys(awake):
            yield rule, "on_call", call
    for handler, listeners in by_site.items():
        for site in getattr(sites, _SITES[handler]):
            for rule in listeners:
                yield rule, handler, site
