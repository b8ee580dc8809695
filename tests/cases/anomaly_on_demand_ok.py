"""The search is an option, is off, runs in a test, or after a bad loss."""

import argparse

import torch


def main(net, opt, feed):
    parser = argparse.ArgumentParser()
    parser.add_argument("--debug", action="store_true")
    args = parser.parse_args()
    torch.autograd.set_detect_anomaly(args.debug)
    if args.debug:
        torch.autograd.set_detect_anomaly(True)
    torch.autograd.set_detect_anomaly(False)
    for x, y in feed:
        with torch.autograd.set_detect_anomaly(args.debug):
            torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        opt.zero_grad()


def test_gradients():
    with torch.autograd.detect_anomaly():
        torch.ones(1, requires_grad=True).sum().backward()
