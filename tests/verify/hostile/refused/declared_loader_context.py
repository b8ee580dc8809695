# refused: the attribute multiprocessing_context is never allowed
import torch.utils.data


class Own:
    reducer = context = process = threading = _os = None


def flagged(x):
    loader = torch.utils.data.DataLoader([1], num_workers=1, multiprocessing_context="fork")
    return loader.multiprocessing_context.reducer.context.process.threading._os
