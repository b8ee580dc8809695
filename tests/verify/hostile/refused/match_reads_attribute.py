# refused: the attribute os is never allowed
def flagged(x):
    match x:
        case object(os=found):
            found.system("true")
    return x
