# refused: has the keyword metaclass
class Meta(type):
    def __call__(cls):
        return 1


class Own(metaclass=Meta):
    pass


def flagged(x):
    return Own()
