# not run: raised Broken
class Broken(BaseException):
    def __str__(self):
        raise Broken

    def __repr__(self):
        raise Broken


def flagged(x):
    raise Broken
