"""TL206: gradients filled with zeros."""

from __future__ import annotations

from tests.rules.helpers import check, reports


def test_fires() -> None:
    check(
        """
        def step(net, opt, x):
            opt.zero_grad(set_to_none=False)  # TL206
            net.zero_grad(False)  # TL206
            for group in opt.param_groups:
                for p in group["params"]:
                    p.grad.data.zero_()  # TL206
            [p.grad.fill_(0.0) for p in net.parameters()]  # TL206
            net(x).sum().backward()
            opt.step()
        """,
        "TL206",
    )


def test_silent() -> None:
    check(
        """
        import torch

        def step(net, opt, x, keep, graph):
            opt.zero_grad()
            opt.zero_grad(set_to_none=keep)
            x.grad.zero_()
            for p in net.parameters():
                p.grad = None
                p.data.zero_()
            with torch.cuda.graph(graph):
                opt.zero_grad(set_to_none=False)
        """,
        "TL206",
    )


def test_steps_that_something_captures() -> None:
    check(
        """
        import torch
        from tensordict.nn import CudaGraphModule

        class Learner:
            def learn(self, x):
                self.opt.zero_grad(set_to_none=False)
                self.net(x).mean().backward()

            def build(self):
                self.step = CudaGraphModule(self.learn)

        class Plain:
            def learn(self, x):
                self.opt.zero_grad(set_to_none=False)  # TL206
                self.net(x).mean().backward()
        """,
        "TL206",
    )


def test_zeros_that_gradients_are_added_to_by_hand() -> None:
    check(
        """
        class Server:
            def take(self, grads):
                for p, g in zip(self.net.parameters(), grads):
                    p.grad += g
                self.opt.step()
                self.opt.zero_grad(set_to_none=False)

        class Trainer:
            def step(self, x):
                self.net(x).sum().backward()
                for p in self.net.parameters():
                    p.grad += 0.1
                self.opt.step()
                self.opt.zero_grad(set_to_none=False)  # TL206
        """,
        "TL206",
    )


def test_the_repair_drops_the_argument() -> None:
    source = "def f(opt):\n    opt.zero_grad(set_to_none=False)\n"
    [(_, report)] = reports(source, "TL206")
    assert report.fix is not None
    assert [edit.content for edit in report.fix.edits] == [""]
