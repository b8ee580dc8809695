"""TL103: which copies to the host are reported."""

from __future__ import annotations

import pytest

from tests.rules.helpers import check, reports
from torchlint.findings import Confidence

LOOP = """
import numpy as np
import torch

def run(net, feed, opt, dev, note):
    net = net.cuda()
    spare = torch.empty(8)
    fast = torch.empty(8, pin_memory=True)
    kept = []
    for k, a in enumerate(feed):
        q = net(a.cuda())
        q.mean().backward()
        opt.step()
        opt.zero_grad()
        {line}
    return kept
"""


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(q.cpu())",
        "kept.append(q.detach().to('cpu').numpy())",
        "kept.append(q.to(device=torch.device('cpu')))",
        "kept.extend(q.tolist())",
        "kept += [r.cpu() for r in q]",
        "spare.copy_(q.detach())",
        "spare.copy_(q.detach(), non_blocking=True)",
        "note({'q': q.detach().cpu()})",
    ],
)
def test_copies_in_a_training_loop(line: str) -> None:
    check(LOOP.format(line=f"{line}  # TL103"), "TL103")


@pytest.mark.parametrize(
    "line",
    [
        "kept.append(q.detach())",
        "kept.append(q.to(torch.float16))",
        "fast.copy_(q.detach(), non_blocking=True)",
        "kept.append(q.to('cpu', non_blocking=True))",
        "kept.append(list(q.shape))",
        "kept.extend(np.arange(3).tolist())",
        "kept.extend(torch.arange(3).tolist())",
        "kept.append(q.cpu()) if k % 10 == 0 else None",
        "net.cpu() if k == 0 else None",
        "q.copy_(q * 2)",
    ],
)
def test_what_stays_or_is_rare(line: str) -> None:
    check(LOOP.format(line=line), "TL103")


def test_one_finding_for_a_chain_at_the_copy() -> None:
    found = reports(LOOP.format(line="kept.append(q.detach().cpu().numpy().tolist())"), "TL103")
    assert [report.message.split("`")[1] for _, report in found] == ["q.detach().cpu()"]


def test_in_a_helper_a_method_and_a_lightning_module() -> None:
    check(
        """
        import torch
        import lightning.pytorch as pl

        def to_rows(v):
            return v.tolist()  # TL103

        class Task(pl.LightningModule):
            def grab(self, v):
                return v.detach().cpu()  # TL103

            def training_step(self, batch, _):
                out = self(batch)
                rows = to_rows(out.argmax(-1))
                self.last = self.grab(out)
                return out.mean()

            def on_train_epoch_end(self):
                self.seen = self.last.cpu()
        """,
        "TL103",
    )


def test_a_copy_that_closes_a_clock_and_one_that_a_simulator_needs() -> None:
    check(
        """
        from time import perf_counter
        import torch

        def bench(net, a):
            net = net.cuda()
            spans = []
            for _ in range(10):
                t = perf_counter()
                net(a.cuda()).cpu()
                spans.append(perf_counter() - t)
            return spans

        def play(policy, envs, steps):
            seen = envs.reset()
            for _ in range(steps):
                moves = policy(torch.from_numpy(seen).cuda()).argmax(-1)
                moves = moves.cpu().numpy()
                seen, gains, ends, cut, more = envs.step(moves)
        """,
        "TL103",
    )


def test_what_only_the_host_can_compute_is_possible() -> None:
    source = """
        import torch
        from scipy.optimize import linear_sum_assignment as assign
        from torch import nn

        class Match(nn.Module):
            def forward(self, x, y):
                cost = torch.cdist(x, y).cpu()  # TL103
                rows, cols = assign(cost)
                return self.session.run(x.detach().cpu().numpy()), rows, cols  # TL103
        """
    check(source, "TL103", possible=True)


def test_a_module_made_on_the_host_moves_with_its_owner() -> None:
    check(
        """
        from torch import nn

        class Head(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x.to(self.lin.weight.device)).to(self.lin.weight)
        """,
        "TL103",
    )


def test_a_copy_that_host_code_works_on_is_only_possible() -> None:
    source = """
        import numba
        import numpy as np
        import pycocotools.mask as masks
        from torch import nn

        @numba.jit(nopython=True)
        def trace(array):
            return array

        class Head(nn.Module):
            def forward(self, x, encoder):
                runs = [masks.encode(np.asfortranarray(row)) for row in x.sigmoid().cpu().numpy()]
                for row in x.sigmoid().cpu().numpy():
                    runs.append(self.library.encode(row))
                return runs, trace(x.softmax(-1).cpu().numpy())
    """
    assert [report.confidence for _, report in reports(source, "TL103")] == [Confidence.POSSIBLE] * 3


def test_a_copy_that_is_written_to_a_file_is_only_possible() -> None:
    check(
        """
        import numpy as np
        import torch

        def infer(net, x):
            out = net(x)["outputs"]
            return out.detach().cpu().numpy()  # TL103

        @torch.no_grad()
        def extract(net, data, paths):
            net = net.cuda()
            for x in torch.utils.data.DataLoader(data):
                rows = infer(net, x.cuda())
                for k in range(len(x)):
                    row = rows[k]
                    row = row[:3, :].T
                    np.save(paths[k], row)
        """,
        "TL103",
        possible=True,
    )


def test_following_a_tensor_to_where_it_lies_is_no_copy_to_the_host() -> None:
    check(
        """
        import torch
        from torch import nn

        class Sphere(nn.Module):
            def forward(self, x):
                anchor = torch.zeros(3)
                self.center = self.center.to(anchor.device)
                kept = x.square().to("cpu")  # TL103
                return self.center - kept
        """,
        "TL103",
    )


def test_tokens_are_copied_to_be_decoded_and_waveforms_to_be_processed() -> None:
    source = """
        import torch

        class Writer(torch.nn.Module):
            def forward(self, labels, waves):
                rows = []
                for row in labels.detach().cpu():
                    rows.append(row[row != 0].tolist())
                texts = self.words.batch_decode(rows)
                ready = self.prepare([w.detach().cpu() for w in waves.relu()], return_tensors="pt")
                return texts, ready, waves.exp().cpu()
    """
    found = [(row, report.confidence) for row, report in reports(source, "TL103")]
    assert found == [(10, Confidence.POSSIBLE), (11, Confidence.LIKELY)]


def test_what_moves_itself_is_a_module() -> None:
    check(
        """
        import torch

        class Aligner(torch.nn.Module):
            def forward(self, sound):
                with torch.no_grad():
                    self.network.to(self.device)
                    scores = self.network(sound.to(self.device))
                    self.network.cpu()
                return scores.cpu()  # TL103
        """,
        "TL103",
    )
