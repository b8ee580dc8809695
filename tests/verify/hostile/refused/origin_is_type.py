# refused: typing.get_origin is not on the list
import typing

import numpy as np

KIND = typing.get_origin(typing.Type[int])


def flagged(x):
    made = KIND(
        "Made", (), {"__array_interface__": {"data": (id(x), False), "shape": (1,), "typestr": "<i8", "version": 3}}
    )
    return np.asarray(made())
