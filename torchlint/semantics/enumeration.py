"""Enumerations whose members are found as fast as any attribute of a class.

Before Python 3.12 a member of an `enum.Enum` is looked up by way of a hook of its class, which takes five times as
long, and hashed by a function in Python. The reading of a file compares members more often than it does anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Enumeration"]

if TYPE_CHECKING:
    from enum import Enum as Enumeration
else:

    class _Members(type):
        """Makes one instance for each name that the body of a class gives a value."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> _Members:
            given = {name: value for name, value in body.items() if not name.startswith("_")} if bases else {}
            made = super().__new__(cls, name, bases, {k: v for k, v in body.items() if k not in given})
            made._by_value = {}
            for member, value in given.items():
                one = object.__new__(made)
                one.name, one.value = member, value
                made._by_value[value] = one
                setattr(made, member, one)
            return made

        def __call__(cls, value: object) -> Any:
            """The member of a value. Raises ValueError where there is none."""
            try:
                return cls._by_value[value]
            except KeyError:
                raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

        def __iter__(cls) -> Any:
            return iter(cls._by_value.values())

    class Enumeration(metaclass=_Members):
        """As `enum.Enum`, of which it has what is used here: members with names and values, found by either."""

        def __repr__(self) -> str:
            return f"{type(self).__name__}.{self.name}"

        def __reduce__(self) -> Any:
            return type(self), (self.value,)  # a copy is the member itself
