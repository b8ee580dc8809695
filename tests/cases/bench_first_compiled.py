"""A compiled function is timed against the plain one from its first call on, by events."""

import torch


def gap(fn, *args):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    fn(*args)
    b.record()
    torch.cuda.synchronize()
    return a.elapsed_time(b)  # TL702?


def main(n=4096):
    x = torch.randn(n, n, device="cuda")

    def work(t):
        return (t @ t).relu().sum()

    fast = torch.compile(work)
    print("plain", gap(work, x), "compiled", gap(fast, x))


if __name__ == "__main__":
    main()
