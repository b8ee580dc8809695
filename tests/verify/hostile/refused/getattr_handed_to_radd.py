# refused: getattr may be Python's own where it is read
class Left:
    def __radd__(self, other):
        return other(flagged, "__globals__")


getattr += Left()


def flagged(x):
    return x
