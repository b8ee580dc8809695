"""A warm-up on a side stream, static inputs, and no wait in the capture."""

import torch


def capture(net, x):
    net, x = net.cuda(), x.cuda()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):  # no TL806
        out = net(x)
    return graph, out
