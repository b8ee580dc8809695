# refused: mro is never allowed
def flagged(x):
    type(x).mro()
    return x
