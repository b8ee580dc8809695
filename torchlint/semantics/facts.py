"""What the files of a program tell one another, as digests that are compared: which files a change can reach.

A file tells what its definitions give to those who use them, and how it calls the functions of other files. Two
readings in which these are equal leave the others with the same findings: a model has no other way to them, but for
questions about all that is read, which the project notes as they are asked (`Project.asked`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchlint.semantics import hotness, rounds, surroundings
from torchlint.semantics.contexts import Context, Scope
from torchlint.semantics.encoding import DEEP, encoded
from torchlint.semantics.functions import CallerSite, ClassInfo, Effect, EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.outside import Place, Told, told_to
from torchlint.semantics.project import Question
from torchlint.semantics.values import Value, join_optional

__all__ = ["Asked", "Facts", "facts_of"]

# What a function does that makes no difference to what it calls, and what makes one that is done by others it calls.
_OF_ITS_OWN = frozenset({EffectKind.WAIT, EffectKind.LAUNCH})
_DONE = tuple(
    frozenset({kind})
    for kind in (
        EffectKind.BACKWARD,
        EffectKind.OPTIMIZER_STEP,
        EffectKind.ZERO_GRAD,
        EffectKind.CLOCK,
        EffectKind.FORWARD,
        EffectKind.PLAY,
    )
)
_WORK = _OF_ITS_OWN | {EffectKind.FORWARD}
_READS_CLOCK = frozenset({EffectKind.CLOCK})
_ABOVE = 2  # levels of callers that are told in full; from further up come only answers
_TIMED = 3  # the same, of what reads a clock; and levels of calls whose work is told to it


@dataclass(slots=True)
class Asked:
    """What a file asked about all that is read, and what it has to say to such questions."""

    asked: set[Question] = field(default_factory=set)
    offers: dict[str, set[Question]] = field(default_factory=dict)  # by definition, the questions it has a bearing on
    touches: set[Place] = field(default_factory=set)  # the definitions of other files that values here are of
    holds: dict[int, str] = field(default_factory=dict)  # by file, what is done here with what calls there made
    accelerated: bool = False  # as `Model.accelerated`


@dataclass(slots=True)
class Facts:
    """What one file tells, and whom it asks.

    Functions go by `file:definition:qualified name`, places by file and definition. A definition is a statement of the
    module by the name that it binds; code of the module itself goes by "".
    """

    gives: dict[str, str] = field(default_factory=dict)  # by definition, to those who use it
    used: dict[str, str] = field(default_factory=dict)  # by definition: how its functions are called, from everywhere
    calls: dict[str, str] = field(default_factory=dict)  # by function of another file: how this file calls it
    callers: dict[str, set[Place]] = field(default_factory=dict)  # by definition: who calls its functions
    told: Told = field(default_factory=Told)  # what its functions and classes were told
    wide: Asked = field(default_factory=Asked)


def facts_of(models: Mapping[int, Model]) -> dict[int, Facts]:
    """What each of some files that were read together tells, by number. To be asked when nothing is read any more."""
    return _Teller(models).told()


class _Teller:
    def __init__(self, models: Mapping[int, Model]) -> None:
        self._models = models
        self._homes: dict[FunctionInfo | ClassInfo | None, int] = {}  # the file of a function or class
        self._places: dict[FunctionInfo | ClassInfo, Place] = {}
        for number, model in models.items():
            self._homes[model.root] = number
            self._places[model.root] = number, ""
            defined: list[FunctionInfo | ClassInfo] = [*model.functions.values(), *model.classes.values()]
            for info in defined:
                self._homes[info] = number
                self._places[info] = number, _definition(info.context, info.name)
        self._numbers = {model: number for number, model in models.items()}
        self._sites: dict[tuple[CallerSite, int], str] = {}
        self._chains: dict[Context, str] = {}
        self._told: dict[tuple[Value, int], Any] = {}
        self._doing: dict[FunctionInfo, list[str]] = {}
        self._done: dict[tuple[FunctionInfo, bool], list[tuple[Any, Any]]] = {}
        self._works: dict[tuple[FunctionInfo, int], Any] = {}

    def told(self) -> dict[int, Facts]:
        told = told_to(self._models, self._places, self._place_of)
        facts = {number: Facts(told=told[number]) for number in self._models}
        made = {site.node: number for number, model in self._models.items() for site in model.sites.calls}
        for number, model in self._models.items():
            own, wide = facts[number], facts[number].wide
            project = model.project
            wide.asked = set() if project is None else set(project.asked.get(model, ()))
            own.gives = self._gives(model)
            wide.accelerated = model.accelerated
            wide.touches = {
                self._places[of]
                for value in model.values.values()
                for one in (value, *value.choices)
                for of in (one.cls, one.fn)
                if of is not None and self._homes.get(of, number) != number
            }
            wide.holds = self._holds(number, model, made)
            used: dict[str, list[str]] = {}
            calls: dict[tuple[int, str], list[str]] = {}
            for info in model.functions.values():
                for caller in info.callers:
                    home = self._numbers[model.home.get(caller.node, model)]
                    how = self._call(info, caller)
                    _, name = self._places[info]
                    used.setdefault(name, []).append(f"{info.qualname} {how}")
                    own.callers.setdefault(name, set()).add((home, _definition(caller.context)))
                    if home != number:
                        calls.setdefault((home, f"{number}:{name}:{info.qualname}"), []).append(how)
            own.used = {name: _digest(sorted(told)) for name, told in used.items()}
            for (home, function), how_often in calls.items():
                facts[home].calls[function] = _digest(how_often)
            for cls in model.classes.values():
                offered = wide.offers.setdefault(_definition(cls.context, cls.name), set())
                own_methods = [m for m in cls.methods if not any(parent.find_method(m) for parent in cls.parents())]
                offered |= {("method", name) for name in own_methods}
                lineage = cls.lineage()
                has = {name: cls.find_method(name) for one in lineage for name in one.methods}
                for place, base in enumerate(lineage[1:], 2):
                    # What `super()` comes to in a class without bases is told by the one that mixes it in.
                    after = {name for one in lineage[place:] for name in one.methods} if not base.parents() else set()
                    other = (n for n, method in has.items() if n in after or method is not base.find_method(n))
                    offered |= {("override", f"{self._homes[base]}:{base.qualname}:{name}") for name in other}
        return facts

    def _holds(self, number: int, model: Model, made: Mapping[Any, int]) -> dict[int, str]:
        """What a file does with values that calls in other files made; `made` are the files of calls."""
        done: dict[int, list[Any]] = {}

        def note(values: Iterable[Value | None], context: Context, *what: Any) -> None:
            given = [value for value in values if value is not None]
            homes = {made.get(node, number) for value in given for node in (*value.origins, *value.loaders)}
            for home in homes - {number}:
                hot = hotness.hot(context)
                stands = self._chain(context), hot is not None and (hot.trains, hot.rate.value)
                done.setdefault(home, []).append((what, stands, [self._value(value, 1) for value in given]))

        for call in model.sites.calls:
            values = [call.receiver, call.result, *(argument.value for argument in call.arguments)]
            note(values, call.context, call.callee, call.method, call.target is None)
        for loop in model.sites.loops:
            note([loop.iterable], loop.context)
        return {home: _digest(told) for home, told in done.items()}

    def _place_of(self, context: Context) -> Place:
        """The file and the definition around code."""
        (module,) = (link for link in context.chain() if link.scope is Scope.MODULE)
        return self._homes[module.function], _definition(context)

    def _gives(self, model: Model) -> dict[str, str]:
        told: dict[str, list[Any]] = {}
        for info in model.functions.values():
            told.setdefault(_definition(info.context, info.name), []).append(self._function(info))
        for cls in model.classes.values():
            told.setdefault(_definition(cls.context, cls.name), []).append(self._class(cls))
        project = model.project
        for name, value in project.bound_in(model).items() if project is not None else ():
            if "." not in name:
                told.setdefault(name, []).append(self._value(value))
        about = (model.accelerated, model.is_test_file, model.uses_tests, model.uses_numpy, model.default_device)
        told.setdefault("", []).append((about, [self._effect(effect) for effect in model.root.effects]))
        return {name: _digest(parts) for name, parts in told.items()}

    def _function(self, info: FunctionInfo) -> Any:
        return (
            info.qualname,
            info.role.value,
            info.method,
            info.hook,
            (info.is_abstract, info.is_context_manager, info.is_generator, info.no_grad, info.passed_on, info.begins),
            (info.compiled, info.fullgraph, info.uncompiled, info.stored, sorted(info.held or ())),
            [(parameter.name, parameter.star, self._value(parameter.declared)) for parameter in info.parameters],
            self._value(info.returns),
            [self._value(value) for _, value, _ in info.return_sites],
            [self._effect(effect) for effect in info.effects],
            sorted((index, self._value(value)) for index, value in info.named_methods.items()),
            sorted(info.named_anywhere),
            sorted((i, [(name, self._value(value)) for name, value in given]) for i, given in info.handed.items()),
            sorted((name, sorted(uses)) for name, uses in info.duck.items()),
            sorted(info.roots),
            sorted(info.terms),
        )

    def _effect(self, effect: Effect) -> Any:
        callee = effect.callee
        return (
            effect.kind.value,
            effect.part,
            self._value(effect.value, 1),
            None if callee is None else (self._homes.get(callee), callee.qualname),
            [rounds.iterates(loop).value for loop in effect.context.enclosing_loops()],
            (effect.context.rare, effect.context.grad_off),
        )

    def _class(self, cls: ClassInfo) -> Any:
        return (
            cls.qualname,
            cls.base_names,
            sorted(cls.methods),
            sorted((name, self._joined(stored.values())) for name, stored in cls.stores.items()),
            sorted((name, self._value(held)) for name, held in cls.class_attributes.items() if name not in cls.methods),
            sorted((name, sorted(uses)) for name, uses in cls.duck.items()),
            sorted(cls.roots),
            (cls.compiled, cls.fullgraph),
        )

    def _joined(self, values: Iterable[Value]) -> Any:
        joined: Value | None = None
        for value in values:
            joined = join_optional(joined, value)
        return self._value(joined)

    def _value(self, value: Value | None, depth: int = DEEP) -> Any:
        """A value as plain data that is equal for values that tell the same."""
        if value is None:
            return None
        known = self._told.get((value, depth))
        if known is None:
            known = self._told[value, depth] = _digest(
                (encoded(value, depth, self._named, self._value), repr(value.const)[:80], value.deps, value.ident)
            )
        return known

    def _named(self, of: FunctionInfo | ClassInfo) -> list[Any]:
        return [self._homes.get(of), of.qualname]

    def _call(self, info: FunctionInfo, caller: CallerSite, above: int | None = None) -> str:
        """How a call site calls a function: what it passes, where it stands, and what is known of its own callers."""
        context = caller.context
        owner = context.owner
        timed = info.does(_READS_CLOCK)
        if above is None:
            above = _TIMED if timed else _ABOVE
        key = (caller, above)
        known = self._sites.get(key)
        if known is not None:
            return known
        self._sites[key] = "again"  # within a circle of calls
        further: Any = None
        if owner is not None:
            does = self._steps(owner, caller, timed)
            seen = [self._call(owner, one, above - 1) for one in owner.callers] if above > 1 else len(owner.callers)
            around = (
                None if owner.cls is None else (owner.cls.qualname, owner.cls.base_names, sorted(owner.cls.methods))
            )
            further = (owner.qualname, owner.role.value, owner.method, owner.passed_on, around, does, seen)
        told = _digest(
            (
                [self._value(parameter.passed.get(caller.node)) for parameter in info.parameters],
                [self._heat(around) for around in (context, caller.rounds) if around is not None],
                [surroundings.autograd_off(context, perhaps=perhaps) for perhaps in (False, True)],
                (surroundings.in_worker(context), surroundings.in_test(context)),
                getattr(surroundings.compiled(context), "qualname", None),
                self._chain(context),
                further,
            )
        )
        self._sites[key] = told
        return told

    def _heat(self, context: Context) -> Any:
        hot = hotness.hot(context)
        if hot is None:
            return None
        home = next(iter(self._models.values())).home
        reasons = [(text, self._numbers.get(home[node]) if node in home else None) for text, node in hot.reasons]
        return reasons, hot.rate.value, hot.trains, hot.interface

    def _steps(self, owner: FunctionInfo, caller: CallerSite, timed: bool) -> list[Any]:
        """What a function does before and after a call, as far as that matters to what is called."""
        key = owner, timed
        steps = self._done.get(key)
        if steps is None:
            if timed:
                told = [(effect.node, (self._step(effect), self._work(effect))) for effect in owner.effects]
            else:
                told = [(effect.node, self._step(effect)) for effect in owner.effects if effect.kind not in _OF_ITS_OWN]
            steps = self._done[key] = told
        return ["here" if node is caller.node else step for node, step in steps if step or node is caller.node]

    def _step(self, effect: Effect) -> Any:
        callee = effect.callee
        if callee is None:
            return effect.kind.value
        done = self._doing.get(callee)
        if done is None:
            kinds = (next(iter(kind)).value for kind in _DONE if callee.does(kind))
            done = self._doing[callee] = list(kinds)
        return done

    def _work(self, effect: Effect, depth: int = _TIMED) -> Any:
        """What an effect has the device do, or waits for: who times it by readings of a clock elsewhere sees that."""
        callee = effect.callee
        if callee is None:
            return self._chain(effect.context), self._effect(effect)
        key = callee, depth
        if key not in self._works:
            inner = [one for one in callee.effects if one.kind in _WORK or one.callee is not None] if depth else []
            self._works[key] = _digest([self._work(one, depth - 1) for one in inner])
        return self._chain(effect.context), effect.part, self._works[key]

    def _chain(self, context: Context) -> str:
        """What stands around code within its module."""
        known = self._chains.get(context)
        if known is None:
            above = "" if context.parent is None else self._chain(context.parent)
            known = self._chains[context] = _digest((self._link(context), above))
        return known

    def _link(self, link: Context) -> Any:
        loop = None
        if link.scope is Scope.LOOP and link.loop is not None:
            does = sorted({effect.kind.value for effect in link.loop.body_effects if effect.kind not in _OF_ITS_OWN})
            loop = (rounds.iterates(link).value, link.loop.count, link.loop.calls_layers, does)
        return (link.scope.value, link.gate.value, link.negated, sorted(link.asks), sorted(link.flags), loop)


def _definition(context: Context | None, name: str = "") -> str:
    """The name of the outermost definition around a context; `name` where it stands in none itself."""
    found = name if not name.startswith("<") else ""
    for link in context.chain() if context is not None else ():
        if link.scope is Scope.FUNCTION and link.function is not None and not link.function.name.startswith("<"):
            found = link.function.name
        elif link.scope is Scope.CLASS and link.cls is not None:
            found = link.cls.name
    return found


def _digest(told: Any) -> str:
    return hashlib.blake2b(repr(told).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()
