# refused: gi_frame is never allowed
def flagged(x):
    frames = (i for i in [1])
    frames.gi_frame.f_builtins
    return x
