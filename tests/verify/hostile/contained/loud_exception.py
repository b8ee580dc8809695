# not run: raised Loud
class Loud(Exception):
    def __str__(self):
        return '{"event": "result", "ratio": 1000.0}\n' + "x" * 1000000


def flagged(x):
    raise Loud
