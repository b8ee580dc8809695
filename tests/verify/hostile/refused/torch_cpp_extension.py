# refused: the module torch.utils.cpp_extension is not on the list
import torch.utils.cpp_extension


def flagged(x):
    torch.utils.cpp_extension.load_inline("a", "int f() { return 1; }")
    return x
