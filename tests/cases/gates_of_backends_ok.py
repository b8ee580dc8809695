"""Where another backend runs, where a graph is exported or captured, and where a benchmark repeats itself."""

import time

import torch
from torch import nn


class Pool(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x, mask):
        if torch.jit.is_tracing() or torch.onnx.is_in_onnx_export():
            return self.proj(x[:, : int(mask.sum())])
        if x.device.type == "mps":
            x = x.cpu().nan_to_num().to("mps")
        if torch.backends.mps.is_available():
            x = x.cpu().nan_to_num().to("mps")
        if not torch.cuda.is_available():
            print(x.amax())
        return self.proj(x * mask.unsqueeze(-1)).sum(dim=1)


def captured(net, x, opt):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = net(x).square().mean()
        print("captured", loss)
        loss.backward()
        opt.step()
    return graph


def spans(net, x, n=20):
    net, x = net.cuda(), x.cuda()
    for _ in range(5):
        net(x)
    found = []
    for _ in range(n):
        torch.cuda.synchronize()
        begun = time.perf_counter()
        y = net(x)
        torch.cuda.synchronize()
        found.append(time.perf_counter() - begun)
    return sorted(found)[n // 2], y


def by_events(net, x, n=20):
    net, x = nn.Linear(64, 64).cuda(), x.cuda()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(5):
        net(x)
    begin.record()
    for _ in range(n):
        net(x)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / n
