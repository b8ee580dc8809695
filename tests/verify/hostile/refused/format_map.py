# refused: format_map is never allowed
def flagged(x):
    return "{a}".format_map({"a": x})
