# refused: print to something other than standard output
class Sink:
    def write(self, text):
        return None


def flagged(x):
    print("x", file=Sink())
    return x
