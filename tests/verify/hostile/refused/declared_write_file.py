# refused: the attribute _typed_storage is never allowed
import torch


class Own:
    _typed_storage = _untyped_storage = _write_file = None


def flagged(x):
    text = torch.frombuffer(bytearray(b"1"), dtype=torch.uint8)
    text._typed_storage()._untyped_storage._write_file(2, True, False, 1)
    return x
