"""TL312: the whole sequence again for every token."""

from __future__ import annotations

from tests.rules.helpers import check


def test_fires() -> None:
    check(
        """
        import torch as th

        class Sampler:
            def run(self, net, ids, n, width):
                for _ in range(n):
                    view = ids if ids.size(1) < width else ids[:, -width:]
                    out = net(view)  # TL312
                    probs = out.logits[:, -1, :].softmax(-1)
                    ids = th.cat([ids, th.multinomial(probs, 1)], 1)
                return ids

        @th.no_grad()
        def fill(model, ids, n):
            for t in range(1, n):
                ids[:, t] = model(ids[:, :t])[:, -1].argmax(-1)  # TL312
            return ids

        def greedy(model, src, n):
            memory = model.encode(src.cuda())
            ys = th.zeros(1, 1, dtype=th.long, device="cuda")
            for _ in range(n):
                out = model.decode(ys, memory)  # TL312
                ys = th.cat([ys, model.head(out[-1]).argmax(-1)[None]])
            return ys
        """,
        "TL312",
    )


def test_silent() -> None:
    check(
        """
        import torch

        def other(net, ids, n):
            for _ in range(n):
                ids = torch.cat([ids, net(ids)[-1].argmax(-1)], dim=1)  # the last of a batch
            return ids

        def cached(net, ids, n):
            past = None
            token = ids
            for _ in range(n):
                out = net(token, past_key_values=past)
                past, token = out.past_key_values, out.logits[:, -1:].argmax(-1)
                ids = torch.cat([ids, token], 1)
            return ids

        def scores(net, ids, n):
            total = 0
            for _ in range(n):
                out = net(ids)
                total = total + out.mean()
                ids = torch.cat([ids, out[:, -1:].argmax(-1)], 1)
            return total

        def learn(net, opt, ids):
            for t in range(1, 100):
                loss = net(ids[:, :t])[:, -1].mean()
                ids[:, t] = 0
                loss.backward()
                opt.step()
        """,
        "TL312",
    )
