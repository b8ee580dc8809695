# refused: the attribute kineto_results is never allowed
import torch.profiler


def flagged(x):
    with torch.profiler.profile() as taken:
        pass
    return taken.profiler.kineto_results
