# refused: torch.profiler.tensorboard_trace_handler is not on the list
import torch


def flagged(x):
    with torch.profiler.profile(on_trace_ready=torch.profiler.tensorboard_trace_handler("/tmp/x")):
        return x * 2
