# refused: the special name __match_args__ is bound
class Pair:
    __match_args__ = ("__globals__",)


def flagged(x):
    match flagged:
        case Pair(found):
            return found
    return x
