# refused: typing.get_type_hints is not on the list
import typing


def own(x: "__import__('os')"):
    return x


def flagged(x):
    typing.get_type_hints(own)
    return x
