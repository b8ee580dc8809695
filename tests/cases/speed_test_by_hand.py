"""A program that tests the speed of a network: its last wait is missing, and no testing framework runs it."""

import time

import torch
from network import Net


def test_speed():
    spans = []
    model = Net(30).cuda().eval()
    data = torch.randn(1, 3, 768, 768, device="cuda")
    for i in range(50):
        torch.cuda.synchronize()
        start = time.perf_counter()
        model(data)
        end = time.perf_counter()
        if i >= 10:
            spans.append(end - start)  # TL701
    print("mean time", sum(spans) / len(spans))


if __name__ == "__main__":
    test_speed()
