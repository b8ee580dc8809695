# refused: the attribute _evaluate is never allowed
import typing


class Own:
    _evaluate = None


def flagged(x):
    (reference,) = typing.get_args(typing.List["__import__('os').getcwd()"])
    return reference._evaluate({}, {}, frozenset())
