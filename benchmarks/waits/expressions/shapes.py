"""Operators whose result has a shape that depends on data, and their relatives that have not (TL105)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpad_sequence
x = torch.randn(64, 64, device="cuda")
v = torch.rand(64, device="cuda")
mask = x > 0
ints = torch.randint(0, 10, (64,), device="cuda")
classes = torch.randint(0, 10, (4, 4), device="cuda")
counts = torch.tensor([1, 2, 3], device="cuda")
rows3 = torch.randn(3, 4, device="cuda")
host_counts = torch.tensor([1, 2, 3])
edges = torch.linspace(0, 1, 5, device="cuda")
steps = torch.randn(8, 4, 16, device="cuda")
lengths = torch.tensor([8, 6, 5, 2], device="cuda")
host_lengths = torch.tensor([8, 6, 5, 2])
host_unsorted = torch.tensor([5, 8, 2, 6])
packed = pack_padded_sequence(steps, host_lengths)
packed_unsorted = pack_padded_sequence(steps, host_unsorted, enforce_sorted=False)
ragged = [torch.randn(n, 16, device="cuda") for n in (5, 3, 2)]
indices = torch.tensor([[0, 1, 1], [2, 0, 2]], device="cuda")
values = torch.rand(3, device="cuda")
sparse = torch.sparse_coo_tensor(indices, values, (3, 3))
coalesced = sparse.coalesce()
"""

ROWS = (
    row("x.nonzero()", ".nonzero"),
    row("mask.nonzero()", ".nonzero"),
    row("torch.nonzero(mask)", "torch.nonzero"),
    row("mask.nonzero(as_tuple=True)", ".nonzero"),
    row("torch.nonzero(x, as_tuple=True)", "torch.nonzero"),
    row("mask.nonzero().squeeze(-1)", ".nonzero"),
    row("torch.nonzero_static(v > 0.5, size=8)", "torch.nonzero_static"),
    row("torch.argwhere(mask)", "torch.argwhere"),
    row("x.argwhere()", ".argwhere"),
    row("torch.where(mask)", "torch.where", input="absent"),
    row("torch.where(v > 0.5)[0]", "torch.where", input="absent"),
    row("torch.masked_select(x, mask)", "torch.masked_select"),
    row("x.masked_select(mask)", ".masked_select"),
    row("torch.unique(ints)", "torch.unique"),
    row("ints.unique()", ".unique"),
    row("torch.unique(ints, sorted=False)", "torch.unique"),
    row("torch.unique(ints, return_inverse=True)", "torch.unique"),
    row("torch.unique(ints, return_counts=True)", "torch.unique"),
    row("torch.unique(classes, dim=0)", "torch.unique"),
    row("torch.unique_consecutive(ints)", "torch.unique_consecutive"),
    row("ints.unique_consecutive()", ".unique_consecutive"),
    row("torch.bincount(ints)", "torch.bincount", minlength="absent"),
    row("torch.bincount(ints, minlength=10)", "torch.bincount", minlength="given"),
    row("torch.bincount(ints, weights=v, minlength=10)", "torch.bincount", minlength="given"),
    row("ints.bincount()", ".bincount", minlength="absent"),
    row("ints.bincount(minlength=10)", ".bincount", minlength="given"),
    row("torch.histc(v, 10)", "torch.histc", bins="number", min="absent", max="absent"),
    row("torch.histc(v, 10, 0.0, 1.0)", "torch.histc", bins="number", min="number", max="number"),
    row("F.one_hot(ints)", "torch.nn.functional.one_hot", num_classes="absent"),
    row("F.one_hot(ints, 10)", "torch.nn.functional.one_hot", num_classes="given"),
    row("F.one_hot(ints, num_classes=10)", "torch.nn.functional.one_hot", num_classes="given"),
    row("F.one_hot(ints, num_classes=-1)", "torch.nn.functional.one_hot", num_classes="absent"),
    row("torch.repeat_interleave(rows3, 2)", "torch.repeat_interleave", repeats="number", output_size="absent"),
    row("torch.repeat_interleave(rows3, 2, dim=0)", "torch.repeat_interleave", repeats="number", output_size="absent"),
    row("rows3.repeat_interleave(2, dim=0)", ".repeat_interleave", repeats="number", output_size="absent"),
    row(
        "torch.repeat_interleave(rows3, counts, dim=0)",
        "torch.repeat_interleave",
        repeats="device",
        output_size="absent",
    ),
    row("rows3.repeat_interleave(counts, dim=0)", ".repeat_interleave", repeats="device", output_size="absent"),
    row(
        "torch.repeat_interleave(rows3, counts, dim=0, output_size=6)",
        "torch.repeat_interleave",
        repeats="device",
        output_size="given",
    ),
    row(
        "rows3.repeat_interleave(counts, dim=0, output_size=6)",
        ".repeat_interleave",
        repeats="device",
        output_size="given",
    ),
    row("torch.repeat_interleave(counts)", "torch.repeat_interleave", repeats="device", output_size="absent"),
    row(
        "torch.repeat_interleave(counts, output_size=6)",
        "torch.repeat_interleave",
        repeats="device",
        output_size="given",
    ),
    row(
        "torch.repeat_interleave(rows3, host_counts, dim=0)",
        "torch.repeat_interleave",
        repeats="host",
        output_size="absent",
        raises=True,
    ),
    row("torch.combinations(v)", "torch.combinations"),
    row("torch.cartesian_prod(counts, counts)", "torch.cartesian_prod"),
    row("torch.isin(ints, counts)", "torch.isin"),
    row("torch.count_nonzero(x)", "torch.count_nonzero"),
    row("x.count_nonzero()", ".count_nonzero"),
    row("torch.searchsorted(edges, v)", "torch.searchsorted"),
    row("torch.searchsorted(edges, 0.5)", "torch.searchsorted"),
    row("torch.bucketize(v, edges)", "torch.bucketize"),
    row("torch.unravel_index(ints, (8, 8))", "torch.unravel_index"),
    row("torch.block_diag(rows3, rows3)", "torch.block_diag"),
    row("torch.diag(v)", "torch.diag"),
    row("torch.diag_embed(v)", "torch.diag_embed"),
    # Sparse
    row("x.to_sparse()", ".to_sparse"),
    row("x.to_sparse_csr()", ".to_sparse_csr"),
    row("sparse.coalesce()", ".coalesce", input="not coalesced"),
    row("coalesced.coalesce()", ".coalesce", input="coalesced"),
    row("sparse.to_dense()", ".to_dense"),
    row("torch.sparse_coo_tensor(indices, values)", "torch.sparse_coo_tensor", size="absent"),
    row("torch.sparse_coo_tensor(indices, values, (3, 3))", "torch.sparse_coo_tensor", size="given"),
    row("torch.sparse.mm(coalesced, rows3)", "torch.sparse.mm", sparse="coalesced"),
    row("torch.sparse.mm(sparse, rows3)", "torch.sparse.mm", sparse="not coalesced"),
    row("sparse @ rows3", "torch.sparse.mm", sparse="not coalesced"),
    row("torch.sparse.sum(sparse, 0)", "torch.sparse.sum"),
    row("coalesced.values()"),
    # Ragged
    row("pad_sequence(ragged)", "torch.nn.utils.rnn.pad_sequence"),
    row("pad_sequence(ragged, batch_first=True, padding_value=-1.0)", "torch.nn.utils.rnn.pad_sequence"),
    row("pack_sequence(ragged)", "torch.nn.utils.rnn.pack_sequence"),
    row(
        "pack_padded_sequence(steps, host_lengths)",
        "torch.nn.utils.rnn.pack_padded_sequence",
        lengths="host",
        enforce_sorted="absent",
    ),
    row(
        "pack_padded_sequence(steps, [8, 6, 5, 2])",
        "torch.nn.utils.rnn.pack_padded_sequence",
        lengths="host",
        enforce_sorted="absent",
    ),
    row(
        "pack_padded_sequence(steps, host_unsorted, enforce_sorted=False)",
        "torch.nn.utils.rnn.pack_padded_sequence",
        lengths="host",
        enforce_sorted="false",
    ),
    row("pack_padded_sequence(steps, lengths)", raises=True),
    row("pack_padded_sequence(steps, lengths.cpu())", ".cpu"),
    row("pad_packed_sequence(packed)", "torch.nn.utils.rnn.pad_packed_sequence", enforce_sorted="absent"),
    row("pad_packed_sequence(packed_unsorted)", "torch.nn.utils.rnn.pad_packed_sequence", enforce_sorted="false"),
    row("unpad_sequence(steps, lengths)", "torch.nn.utils.rnn.unpad_sequence"),
    row("torch.nested.nested_tensor(ragged)", "torch.nested.nested_tensor", layout="absent"),
    row("torch.nested.nested_tensor(ragged, layout=torch.jagged)", "torch.nested.nested_tensor", layout="jagged"),
    row("torch.nested.to_padded_tensor(torch.nested.nested_tensor(ragged), 0.0)", "torch.nested.to_padded_tensor"),
    row('torch.segment_reduce(v, "sum", lengths=torch.tensor([30, 34], device="cuda"))'),
)
