# refused: open may be Python's own where it is read
import contextlib

if False:
    with contextlib.nullcontext() as open:
        pass


def flagged(x):
    return open("a")
