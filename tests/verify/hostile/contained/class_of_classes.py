# not run: raised PermissionError: type() of type
MAKE = type(int)


def flagged(x):
    return MAKE("Any", (object,), {"__array_interface__": {"data": (id(x), False)}})()
