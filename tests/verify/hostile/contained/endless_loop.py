# not run: time limit
def flagged(x):
    while True:
        x = x + 1
