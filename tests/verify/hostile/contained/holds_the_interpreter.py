# not run: time limit
def flagged(x):
    return x + 9**9**9 % 2
