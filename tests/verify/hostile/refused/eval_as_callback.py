# refused: eval is never allowed
def flagged(x):
    list(map(eval, ["1"]))
    return x
