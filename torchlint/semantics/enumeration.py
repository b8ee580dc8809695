"""Enumerations whose members are found as fast as any attribute of an object.

A member of an `enum.Enum` is looked up by way of a hook of its class before Python 3.12, which takes twenty times as
long, and hashed by a function in Python; an attribute of a plain class still takes three times as long. The reading of
a file compares members more often than it does anything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

__all__ = ["Enumeration"]

if TYPE_CHECKING:
    from enum import Enum as Enumeration
else:

    class _Member:
        """A name and a value, of one enumeration."""

        __slots__ = ("name", "of", "value")

        def __init__(self, of: _Members, name: str, value: object) -> None:
            self.of, self.name, self.value = of, name, value

        def __repr__(self) -> str:
            return f"{self.of!r}.{self.name}"

        def __reduce__(self) -> Any:
            return self.of, (self.value,)  # a copy is the member itself

    class _Members:
        """What stands for the class of an enumeration: an object whose attributes are the members."""

        __slots__ = ("_by_value",)

        def __init__(self, given: dict[str, Any]) -> None:
            self._by_value = {value: _Member(self, name, value) for name, value in given.items()}
            for member in self:
                setattr(self, member.name, member)

        def __call__(self, value: object) -> _Member:
            """The member of a value. Raises ValueError where there is none."""
            try:
                return self._by_value[value]
            except KeyError:
                raise ValueError(f"{value!r} is not a valid {self!r}") from None

        def __iter__(self) -> Iterator[_Member]:
            return iter(self._by_value.values())

        def __repr__(self) -> str:
            return type(self).__name__

        def __reduce__(self) -> str:
            return repr(self)

    class _Making(type):
        """Makes such an object of the body of a class statement."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
            if not bases:
                return super().__new__(cls, name, bases, body)
            given = {member: value for member, value in body.items() if not member.startswith("_")}
            kept = {"__module__": body["__module__"], "__doc__": body.get("__doc__"), "__slots__": tuple(given)}
            return type(name, (_Members,), kept)(given)

    class Enumeration(metaclass=_Making):
        """As `enum.Enum`, of which it has what is used here: members with names and values, found by either."""
