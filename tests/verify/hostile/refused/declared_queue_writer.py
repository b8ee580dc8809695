# refused: the attribute _index_queues is never allowed
import torch.utils.data


class Own:
    _index_queues = _writer = send_bytes = None


def flagged(x):
    made = iter(torch.utils.data.DataLoader([1], num_workers=1))
    made._index_queues[0]._writer.send_bytes(b"")
    return x
