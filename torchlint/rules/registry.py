"""Which rules there are, and how a model's sites reach them."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import libcst as cst

from torchlint.rules import base
from torchlint.rules._impact import graded
from torchlint.rules.base import Report, Rule
from torchlint.semantics.contexts import Context
from torchlint.semantics.model import Model
from torchlint.semantics.sites import Sites
from torchlint.source.text import UnreadableError

Handler = Callable[[Any, Model], Iterator[Report]]

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


_known: dict[type[Rule], tuple[Rule, tuple[str, ...]]] = {}


def _ready(kind: type[Rule]) -> tuple[Rule, tuple[str, ...]]:
    """A rule, which keeps no state, and the handlers that it has."""
    if kind not in _known:
        handlers = tuple(handler for handler in ("on_call", "on_module", *_SITES) if _handles(kind, handler))
        _known[kind] = kind(), handlers
    return _known[kind]


def run(model: Model, rules: Iterable[type[Rule]], sites: Sites | None = None) -> list[tuple[type[Rule], Report]]:
    """What the rules report on a model, each place once a rule, with its impact. Raises RuleFailure where one fails.

    With `sites`, only these of the model's wake them. Raises UnreadableError where the text of a node cannot be told.
    """
    reports: list[tuple[type[Rule], Report]] = []
    seen: set[tuple[str, cst.CSTNode]] = set()

    def take(rule: Rule, found: Iterator[Report], site: Any) -> None:
        try:
            for report in found:
                key = (rule.code, report.node)
                if key not in seen:
                    seen.add(key)
                    reports.append((type(rule), graded(report, type(rule), _context(site))))
        except UnreadableError:
            raise  # no fault of the rule
        except Exception as error:
            raise RuleFailure(type(rule), error) from error

    kinds = tuple(rules)
    for rule, handle, site in _awakenings(kinds, model.sites if sites is None else sites):
        take(rule, handle(site, model), site)
    for kind in kinds if sites is None else ():
        rule, handlers = _ready(kind)
        if "on_module" in handlers:
            take(rule, rule.on_module(model), None)
    return reports


def woken(rules: Iterable[type[Rule]], sites: Sites) -> list[type[Rule]]:
    """The rules that listen to at least one of the sites, in the order of `rules`."""
    kinds = tuple(rules)
    awake = {type(rule) for rule, _, _ in _awakenings(kinds, sites)}
    return [kind for kind in kinds if kind in awake]


def _awakenings(kinds: tuple[type[Rule], ...], sites: Sites) -> Iterator[tuple[Rule, Handler, Any]]:
    """Each rule with the handler and the site that wakes it."""
    by_call: dict[str | None, list[Rule]] = {}
    by_method: dict[str | None, list[Rule]] = {}
    by_site: dict[str, list[tuple[Rule, Handler]]] = {}
    for kind in kinds:
        rule, handlers = _ready(kind)
        for handler in handlers:
            if handler == "on_call":
                for name in kind.calls:
                    listeners = by_method if name[0] == "." else by_call
                    listeners.setdefault(name.lstrip("."), []).append(rule)
            elif handler in _SITES:
                by_site.setdefault(handler, []).append((rule, getattr(rule, handler)))

    everywhere = by_call.pop("*", [])
    for call in sites.calls:
        named, by_its_method = by_call.get(call.callee), by_method.get(call.method)
        awake: Iterable[Rule] = everywhere
        if named or by_its_method:
            awake = dict.fromkeys((*everywhere, *(named or ()), *(by_its_method or ())))
        for rule in awake:
            yield rule, rule.on_call, call
    for handler, awake_by_site in by_site.items():
        for site in getattr(sites, _SITES[handler]):
            for rule, handle in awake_by_site:
                yield rule, handle, site
