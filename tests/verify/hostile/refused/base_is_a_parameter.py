# refused: class Child has a base that is no class
class Base:
    pass


def make(Base):
    class Child(Base):
        pass

    return Child


def flagged(x):
    return x
