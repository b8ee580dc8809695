# refused: operator.attrgetter is not on the list
import operator


def flagged(x):
    operator.attrgetter("__class__.__base__")(x)
    return x
