# refused: the special attribute __globals__ is read
def flagged(x):
    match flagged:
        case object(__globals__=found):
            return found
    return x
