"""Methods of lists, dictionaries and their kin."""

from __future__ import annotations

from typing import Any

from torchlint.semantics import sites
from torchlint.semantics.factors import factors
from torchlint.semantics.names import holder
from torchlint.semantics.reading.decorators import DecoratorReader
from torchlint.semantics.values import (
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Kind,
    Value,
    grow,
    join,
)

Arguments = list[sites.Argument]


_CONTAINER_ADDS: dict[str, int] = {"append": 0, "add": 0, "appendleft": 0, "insert": 1, "push": 0, "put": 0}


class ContainerReader(DecoratorReader):
    """Evaluates methods of containers."""

    def container_method(self, receiver: Value, method: str, site: sites.Call) -> Value | None:
        elem = receiver.elem
        if method in _CONTAINER_ADDS:
            argument = site.argument(_CONTAINER_ADDS[method])
            if argument is not None:
                self.store_value(receiver, argument, method, site)
            return NONE
        if method in ("extend", "update", "extendleft"):
            for argument in site.arguments:
                if argument.name is not None:
                    self.store_value(receiver, argument, method, site, key=argument.name)
                else:
                    inner = self.element(argument.value, values=True)
                    self.store_value(receiver, argument, method, site, value=inner)
                    if argument.value.items and receiver.qual == "dict":
                        for key, item in argument.value.items.items():
                            grow(receiver, item, key)
            return NONE
        if method == "setdefault":
            key, argument = site.argument(0), site.argument(1)
            name = key.value.const if key is not None and isinstance(key.value.const, (int, str)) else None
            if argument is not None:
                grow(receiver, argument.value, name)
            return (receiver.items or {}).get(name) or receiver.elem or UNKNOWN
        if method == "values":
            return Value(Kind.CONTAINER, qual="values", elem=elem or UNKNOWN, items=_enumerated(receiver))
        if method == "items":
            value = elem or UNKNOWN
            pair = Value(Kind.CONTAINER, qual="tuple", elem=value, items={0: STRING, 1: value})
            return Value(Kind.CONTAINER, qual="items", elem=pair)
        if method == "keys":
            return Value(Kind.CONTAINER, qual="list", elem=STRING)
        if method in ("get", "pop", "popleft", "popitem"):
            self.note_lookup(receiver)
            key = site.argument(0)
            if (
                key is not None
                and receiver.items
                and isinstance(key.value.const, (int, str))
                and key.value.const in receiver.items
            ):
                return receiver.items[key.value.const]
            found = elem or UNKNOWN
            default = site.argument(1)
            if default is not None and default.value.kind is Kind.CONTAINER:
                found = join(found, default.value)  # `counts.get(key, [])`: what is there is of that kind
            # An interval begins where the clock was read.
            return found if found.kind is Kind.CLOCK else found.but(origins=(site.node,))
        if method in ("copy", "to"):
            if method == "to":
                return receiver
            return receiver.but(items=dict(receiver.items) if receiver.items else None)
        if method in ("count", "index"):
            return NUMBER
        if method == "clear":
            return NONE
        if method in ("sort", "reverse"):
            return NONE
        return None

    def store_value(
        self,
        container: Value,
        argument: sites.Argument,
        how: str,
        site: sites.Call,
        *,
        value: Value | None = None,
        key: str | None = None,
    ) -> None:
        """A container takes a value: it remembers it, and rules hear of it."""
        stored = argument.value if value is None else value
        grow(container, stored.but(ident=None, deps=0) if stored.ident is not None or stored.deps else stored, key)
        self.note_stored_parameter(stored)
        if site.receiver_node is not None:
            self.note_flow(site.receiver_node, factors(argument.node))
        if self.recording:
            name = holder(site.receiver_node)
            self.sites.stores.append(
                sites.Store(site.node, how, container, name, argument.node, stored, self.context, self.statement, key)
            )


def _enumerated(receiver: Value) -> dict[Any, Value] | None:
    return dict(enumerate(receiver.items.values())) if receiver.items else None
