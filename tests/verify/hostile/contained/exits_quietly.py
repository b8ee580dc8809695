# not run: raised SystemExit
def flagged(x):
    raise SystemExit(0)
