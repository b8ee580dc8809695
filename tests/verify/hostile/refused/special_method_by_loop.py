# refused: the special name __getattr__ is bound
class Any:
    for __getattr__ in [lambda self, name: name]:
        pass


def flagged(x):
    return x
