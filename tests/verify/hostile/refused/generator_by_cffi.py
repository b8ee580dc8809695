# refused: the attribute cffi is never allowed
import numpy as np


class Own:
    cffi = next_double = None


def flagged(x):
    made = np.random.default_rng().bit_generator.cffi
    return made.next_double(made.state)
