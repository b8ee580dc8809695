# refused: the attribute _new_with_weak_ptr is never allowed
class Own:
    _typed_storage = _untyped_storage = _new_with_weak_ptr = None


def flagged(x):
    return x._typed_storage()._untyped_storage._new_with_weak_ptr(id(x))
