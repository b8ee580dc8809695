# not run: raised PermissionError: type() of function
def flagged(x):
    return type(flagged)(x, {})
