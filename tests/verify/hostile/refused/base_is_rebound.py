# refused: class Child has a base that is no class
class Base:
    pass


Base = type(Base)


class Child(Base):
    pass


def flagged(x):
    return x
