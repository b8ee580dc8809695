# refused: type is called to make a class
def flagged(x):
    type("A", (), {"__array_interface__": {}})
    return x
