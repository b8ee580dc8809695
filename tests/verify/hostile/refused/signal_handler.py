# refused: the module signal is not on the list
import signal


def flagged(x):
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    return x
