"""TL306: a triangle built only for the fused call."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch as th
        from torch.nn import functional as F

        def hide(n, like):
            return th.full((n, n), float("-inf"), device=like.device).triu(1)  # TL306

        class M:
            def attend(self, q, k, v):
                n = q.size(-2)
                keep = ~th.triu(th.ones(n, n, dtype=th.bool, device=q.device), diagonal=1)  # TL306
                return F.scaled_dot_product_attention(q, k, v, attn_mask=keep[None, None])

        def heads(parts):
            return [F.scaled_dot_product_attention(q, k, v, hide(q.shape[-2], q)) for q, k, v in parts]
        """,
        "TL306",
    )


def test_silent() -> None:
    check(
        """
        import torch
        import torch.nn.functional as F

        def f(q, k, v, pad, window):
            n, m = q.size(-2), k.size(-2)
            mask = torch.ones(n, n, dtype=torch.bool).tril()
            both = mask & pad
            at = torch.arange(n)
            late = at[None] > at[:, None]
            sloped = (pad * (at[:, None] - at[None])).masked_fill(late, float("-inf"))
            band = torch.ones(n, n, dtype=torch.bool).tril().triu(-window)
            shifted = torch.ones(n, m, dtype=torch.bool).tril(m - n)
            own = (q @ k.mT).tril()
            outs = [F.scaled_dot_product_attention(q, k, v, attn_mask=x) for x in (both, shifted, sloped)]
            outs.append(F.scaled_dot_product_attention(q, k, v, attn_mask=band))
            return outs, own, F.scaled_dot_product_attention(q, k, v, is_causal=True)
        """,
        "TL306",
    )
