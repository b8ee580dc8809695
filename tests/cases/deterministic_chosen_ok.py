"""Deterministic kernels on demand, in tests, and switched off."""

import argparse

import torch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--deterministic", action="store_true")
    args = parser.parse_args()
    torch.use_deterministic_algorithms(args.deterministic)  # no TL406
    if args.deterministic:
        torch.backends.cudnn.deterministic = True  # no TL406
    torch.backends.cudnn.deterministic = False  # no TL406


def test_repeatable():
    torch.use_deterministic_algorithms(True)  # no TL406
    assert torch.equal(torch.ones(2), torch.ones(2))
