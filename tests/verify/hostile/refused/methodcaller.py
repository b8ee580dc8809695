# refused: operator.methodcaller is not on the list
from operator import methodcaller as call


def flagged(x):
    call("tofile", "/tmp/x")(x)
    return x
