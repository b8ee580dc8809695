# refused: has the keyword flag
class Own(dict, flag=print("now")):
    pass


def flagged(x):
    return x
