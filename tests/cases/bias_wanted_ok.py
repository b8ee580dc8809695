"""No bias, other norms, an activation between, and a norm that is optional or shared."""

from torch import nn


class Stem(nn.Module):
    def __init__(self, width, norm=None, bias=True):
        super().__init__()
        self.a = nn.Sequential(nn.Conv2d(3, width, 3, bias=False), nn.BatchNorm2d(width))
        self.b = nn.Sequential(nn.Conv2d(width, width, 3), nn.GroupNorm(8, width))
        self.c = nn.Sequential(nn.Conv2d(width, width, 3), nn.ReLU(), nn.BatchNorm2d(width))
        self.d = nn.Sequential(nn.Conv2d(width, width, 3, bias=norm is None), norm(width) if norm else nn.Identity())
        self.e = nn.Conv2d(width, width, 1, bias=bias)
        self.f = nn.BatchNorm2d(width)

    def forward(self, x):
        x = self.d(self.c(self.b(self.a(x))))
        return self.f(self.e(x))
