# refused: the special method __mro_entries__ is defined
class Any:
    def __mro_entries__(self, bases):
        return (int,)


def flagged(x):
    return x
