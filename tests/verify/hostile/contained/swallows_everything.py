# not run: time limit
def flagged(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
