# refused: the attribute storage_type is never allowed
def flagged(x):
    return x.storage_type()
