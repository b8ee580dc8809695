# refused: enum.EnumMeta is not on the list
import enum


def flagged(x):
    return enum.EnumMeta("Any", (object,), {"__getattr__": lambda self, name: name}, _simple=True)()
