# refused: compile is never allowed
def flagged(x, make=compile):
    make("1", "a", "eval")
    return x
