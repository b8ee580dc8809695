# refused: the attribute time.perf_counter of a module is written
import time


def flagged(x):
    time.perf_counter = lambda: 0.0
    return x
