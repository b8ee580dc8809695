# refused: has no members
import enum


class Empty(enum.Enum):
    pass


def flagged(x):
    Empty("A", {"__array_interface__": {}, "B": 1})
    return x
