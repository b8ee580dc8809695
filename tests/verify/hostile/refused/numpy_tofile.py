# refused: tofile is never allowed
def flagged(x):
    x.numpy().tofile("/tmp/x")
    return x
