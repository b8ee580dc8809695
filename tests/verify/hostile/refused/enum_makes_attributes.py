# refused: enum.Enum is used other than as a base class
import enum


def flagged(x):
    enum.Enum("A", {"__array_interface__": {}, "B": 1})
    return x
