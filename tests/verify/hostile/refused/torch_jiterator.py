# refused: torch.cuda.jiterator is not on the list
import torch


def flagged(x):
    return torch.cuda.jiterator._create_jit_fn("template <typename T> T f(T x) { return x; }")(x)
