# refused: eval may be Python's own where it is read
eval("1")


def eval(text):
    return text


def flagged(x):
    return x
