# refused: super may be Python's own where it is read
if False:
    super = None


class Net:
    def parent(self):
        return super(Net, self)


def flagged(x):
    return x
