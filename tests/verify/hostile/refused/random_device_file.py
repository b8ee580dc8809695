# refused: random.SystemRandom is not on the list
from random import SystemRandom


def flagged(x):
    SystemRandom().random()
    return x
