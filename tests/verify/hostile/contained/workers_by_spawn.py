# not run: raised ValueError: multiprocessing_context option should specify a valid start method in ['fork']
import torch.utils.data


def flagged(x):
    return list(torch.utils.data.DataLoader([1.0], num_workers=1, multiprocessing_context="spawn"))
