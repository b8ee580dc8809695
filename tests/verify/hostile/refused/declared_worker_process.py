# refused: the attribute _workers is never allowed
import torch.utils.data


class Own:
    _workers = _popen = _send_signal = pid = None


def flagged(x):
    made = iter(torch.utils.data.DataLoader([1], num_workers=1))
    made._workers[0]._popen.pid = 1
    made._workers[0]._popen._send_signal(0)
    return x
