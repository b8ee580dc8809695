# refused: getattr may be Python's own where it is read
if False:
    getattr = None


def flagged(x):
    return getattr(flagged, "__globals__")
