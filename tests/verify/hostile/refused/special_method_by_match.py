# refused: the special name __reduce__ is bound
class Any:
    match 1:
        case __reduce__:
            pass


def flagged(x):
    return x
