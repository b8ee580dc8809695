"""TL307: heads of keys and values copied for the queries that share them."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch
        from torch.nn.functional import scaled_dot_product_attention as attend

        def widen(t, n):
            if n == 1:
                return t
            b, h, s, d = t.shape
            return t.unsqueeze(2).expand(b, h, n, s, d).flatten(1, 2)  # TL307

        class M:
            def run(self, q, k, v, n):
                return attend(q, widen(k, n), widen(v, n))

        def spread(x, n):
            b, h, t, d = x.shape
            if n == 1:
                return x
            return x[:, :, None].expand(b, h, n, t, d).reshape(b, h * n, t, d)  # TL307

        def grouped(q, k, v, n):
            k, v = spread(k, n), spread(v, n)
            return attend(q, k, v)

        def lists(parts, n):
            return [attend(q, torch.repeat_interleave(k, n, dim=1), v) for q, k, v in parts]  # TL307
        """,
        "TL307",
    )


def test_silent() -> None:
    check(
        """
        from torch.nn.functional import scaled_dot_product_attention as attend

        def f(q, k, v, n, kernel):
            batch = attend(q, k.repeat_interleave(n, dim=0), v.repeat_interleave(n, dim=0))
            used = k.repeat_interleave(n, dim=1)
            return batch, attend(q, used, v), (q * used).sum(), kernel(q, k.repeat_interleave(n, dim=1), v)

        def grouped(q, k, v, new):
            if new:
                return attend(q, k, v, enable_gqa=True)
            return attend(q, k.repeat_interleave(4, 1), v.repeat_interleave(4, 1))
        """,
        "TL307",
    )
