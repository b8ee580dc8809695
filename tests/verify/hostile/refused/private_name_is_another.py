# refused: the private name __run is read inside a class
from torch import compile as _Own__run

__run = print


class Own:
    def start(self, function):
        return __run(function, options={"cpp.cxx": (None, "gcc")})


def flagged(x):
    return Own().start(abs)(x)
