# refused: the special method __reduce__ is defined
import copy


class Own:
    def __reduce__(self):
        return Own, (), {"__array_interface__": {}}


def flagged(x):
    copy.copy(Own())
    return x
