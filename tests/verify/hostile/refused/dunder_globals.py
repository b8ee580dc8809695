# refused: the special attribute __globals__ is read
def flagged(x):
    flagged.__globals__["__builtins__"]
    return x
