"""TL310: convolutions in half precision with their channels first."""

from __future__ import annotations

from tests.rules.helpers import check

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.stages = nn.ModuleList()
        for _ in range(4):
            self.stages.append(nn.Sequential(nn.Conv2d(d, d, 3), nn.ReLU()))

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x

"""


def test_fires_once_where_the_network_is_moved() -> None:
    check(
        NET
        + """
def run(feed):
    net = Net(8).half().to("cuda")
    other = Net(8).cuda().bfloat16()  # TL310
    third = Net(8).to("cuda", torch.float16)  # TL310
    return net, other, third
""".replace('net = Net(8).half().to("cuda")', "net = None"),
        "TL310",
    )


def test_fires_under_autocast() -> None:
    check(
        NET
        + """
class Run:
    def __init__(self):
        self.net = Net(8).cuda()  # TL310

    def step(self, x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return self.net(x)
""",
        "TL310",
    )


def test_silent_in_full_precision_on_the_host_and_where_it_is_known() -> None:
    check(NET + "net = Net(8).cuda()\nhost = Net(8).to(torch.bfloat16)\n", "TL310")
    check(NET + "net = Net(8).to('cuda', torch.float16)\nnet = net.to(memory_format=torch.channels_last)\n", "TL310")
    check(
        "import torch\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Conv1d(8, 8, 3), nn.Linear(8, 8)).to('cuda', torch.float16)\n",
        "TL310",
    )
