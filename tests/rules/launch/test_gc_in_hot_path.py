"""TL209: gc.collect() on every step."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        from gc import collect as sweep

        class Fit:
            def clean(self):
                sweep()  # TL209

            def run(self, net, feed, opt):
                for x in feed:
                    net(x).sum().backward()
                    opt.step()
                    self.clean()
        """,
        "TL209",
    )


def test_a_training_that_keeps_times_of_its_steps_is_no_benchmark() -> None:
    check(
        """
        import gc
        import time

        def run(net, feed, opt, spans):
            for x in feed:
                begun = time.perf_counter()
                net(x).sum().backward()
                opt.step()
                gc.collect()  # TL209
                spans.append(time.perf_counter() - begun)
        """,
        "TL209",
    )


def test_silent() -> None:
    check(
        """
        import gc
        from somewhere import gc as other

        def run(net, feed, opt, epochs):
            for epoch in range(epochs):
                for i, x in enumerate(feed):
                    net(x).sum().backward()
                    opt.step()
                    other.collect()
                    if i % 50 == 0:
                        gc.collect()
                gc.collect()
        """,
        "TL209",
    )
