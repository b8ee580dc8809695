"""In which order the parts of a function are done."""

from __future__ import annotations

from typing import Final

import libcst as cst

from torchlint.semantics.functions import EffectKind, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.nodes import children

_WAITS: Final = frozenset((EffectKind.WAIT,))
# Methods of what else may wait: events and streams of unknown kind, threads, queues, process groups.
_WAITING_METHODS: Final = frozenset("synchronize wait barrier join result query wait_for_everyone".split())


class Order:
    """The nodes of a function, numbered by when they are done: arguments before their call."""

    def __init__(self, model: Model, function: FunctionInfo) -> None:
        self.function = function
        self._at: dict[cst.CSTNode, int] = {}
        todo: list[tuple[cst.CSTNode, bool]] = [(function.node, False)]
        while todo:
            node, done = todo.pop()
            if done:
                self._at[node] = len(self._at)
            elif node is function.node or not isinstance(node, cst.FunctionDef):  # a class's body is done at once
                todo.append((node, True))
                todo += [(child, False) for child in reversed(children(node))]
        self._waits = sorted(
            [
                self._at[effect.node]
                for effect in function.effects
                if effect.node in self._at
                and (effect.kind is EffectKind.WAIT or (effect.callee is not None and effect.callee.does(_WAITS)))
            ]
            + [
                self._at[site.node]
                for site in model.sites.calls
                if site.method in _WAITING_METHODS and site.node in self._at
            ]
        )

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node in self._at

    def at(self, node: cst.CSTNode) -> int:
        """When a node of the function is done."""
        return self._at[node]

    @property
    def end(self) -> int:
        """When the function ends."""
        return len(self._at)

    def waits(self, after: int, before: int) -> bool:
        """Whether something between two points makes the host wait."""
        return any(after < at < before for at in self._waits)


class Orders:
    """The orders of the functions of a file, each worked out when it is asked for."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[FunctionInfo, Order] = {}

    def of(self, function: FunctionInfo) -> Order:
        """The order of a function's nodes."""
        order = self._known.get(function)
        if order is None:
            order = self._known[function] = Order(self._model, function)
        return order

    def holding(self, node: cst.CSTNode) -> Order | None:
        """The order of the function that holds a node, among those asked for so far."""
        return next((order for order in self._known.values() if node in order), None)
