# refused: the module torch.fx is not on the list
import torch.fx


class Gen(torch.fx.graph.CodeGen):
    def gen_fn_def(self, *rest):
        return "import os"


def flagged(x):
    return x
