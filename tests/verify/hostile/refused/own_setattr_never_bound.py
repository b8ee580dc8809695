# refused: setattr may be Python's own where it is read
if False:
    setattr = None


def flagged(x):
    setattr(flagged, "__defaults__", (1,))
    return x
