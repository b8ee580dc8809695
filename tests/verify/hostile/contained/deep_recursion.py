# not run: raised RecursionError
def down(n):
    return down(n + 1)


def flagged(x):
    return down(0)
