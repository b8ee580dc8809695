"""What other packages do with an index that is not told its size, and with boxes that overlap."""

import torch
from torch import nn
from torch_geometric.nn import GCNConv, global_mean_pool
from torch_geometric.utils import degree
from torch_scatter import scatter_add
from torchvision.ops import batched_nms, nms


class Graphs(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = GCNConv(width, width)

    def forward(self, x, edges, batch, count):
        x = self.conv(x, edges)
        heavy = degree(edges[0])  # TL111
        light = degree(edges[0], x.size(0))
        around = scatter_add(x[edges[0]], edges[1], dim=0, dim_size=x.size(0))
        within = scatter_add(x[edges[0]], edges[1], dim=0)  # TL111
        return global_mean_pool(x, batch, size=count), global_mean_pool(x, batch), heavy, light, around, within  # TL111

    def alone(self, x):
        return global_mean_pool(x, None)


@torch.no_grad()
def found(net, feed):
    net.cuda()
    for image in feed:
        boxes, scores, kinds = net(image.cuda())
        yield nms(boxes, scores, 0.5), batched_nms(boxes, scores, kinds, 0.5)  # TL111?
