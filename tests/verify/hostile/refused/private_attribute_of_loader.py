# refused: the attribute _DataLoader__multiprocessing_context is never allowed
from torch.utils.data import DataLoader as Real


class DataLoader:
    def forge(self, loader):
        loader.__multiprocessing_context = self
        return loader


def flagged(x):
    return list(DataLoader().forge(Real([x], num_workers=1)))
