# refused: typing.get_overloads is not on the list
import typing


def flagged(x):
    def kept():
        pass

    seen = len(typing.get_overloads(kept))
    typing.overload(kept)
    return seen
