# refused: __import__ is never allowed
def flagged(x):
    __import__("os").system("true")
    return x
