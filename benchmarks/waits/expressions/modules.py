"""Modules, autograd, checkpoints of a model, copies of it."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import copy
import io
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrizations
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.checkpoint import checkpoint
model = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to("cuda")
twin = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).to("cuda")
host_twin = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
params = list(model.parameters())
x = torch.randn(8, 16, device="cuda")
labels = torch.randint(0, 4, (8,), device="cuda")
loss = F.cross_entropy(model(x), labels)
leaf = torch.randn(8, 16, device="cuda", requires_grad=True)
mask = leaf.detach() > 0
idx = torch.tensor([0, 2, 1], device="cuda")
masked_loss = leaf[mask].sum()
selected_loss = leaf.masked_select(mask).sum()
written = leaf * 1
written[mask] = 0.0
written_loss = written.sum()
indexed_loss = leaf[idx].sum()
where_loss = torch.where(mask, leaf, 0.0).sum()
embedding = nn.Embedding(100, 16, device="cuda")
sparse_embedding = nn.Embedding(100, 16, sparse=True, device="cuda")
embedding_loss = embedding(labels).sum()
sparse_loss = sparse_embedding(labels).sum()
state = model.state_dict()
host_state = host_twin.state_dict()
conv = nn.Conv2d(3, 4, 3).to("cuda")
image = torch.randn(2, 3, 16, 16, device="cuda")
bn = nn.BatchNorm2d(3).to("cuda")
ln = nn.LayerNorm(16).to("cuda")
lstm = nn.LSTM(16, 16).to("cuda")
gru = nn.GRU(16, 16, bidirectional=True).to("cuda")
steps = torch.randn(8, 4, 16, device="cuda")
packed = pack_padded_sequence(steps, [8, 6, 5, 2])
attention = nn.MultiheadAttention(16, 2, batch_first=True).to("cuda")
padding = torch.zeros(8, 4, dtype=torch.bool, device="cuda")
padding[:, -1] = True
layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).to("cuda")
encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True).to("cuda")
frozen_encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=True).to("cuda").eval()
adaptive = nn.AdaptiveLogSoftmaxWithLoss(16, 40, [10, 20]).to("cuda")
adaptive_labels = torch.randint(0, 40, (8,), device="cuda")
normed = parametrizations.weight_norm(nn.Linear(16, 16).to("cuda"))
spectral = parametrizations.spectral_norm(nn.Linear(16, 16).to("cuda"))
anomaly_loss = model(x).sum()
checkpointed = checkpoint(model, leaf, use_reentrant=False).sum()
square = lambda t: (t * t).sum()
"""

ROWS = (
    row("model(x)", "torch.nn.Module.__call__"),
    row("conv(image)", "torch.nn.Conv2d"),
    row("bn(image)", "torch.nn.BatchNorm2d"),
    row("ln(x)", "torch.nn.LayerNorm"),
    row("embedding(labels)", "torch.nn.Embedding"),
    row("lstm(steps)", "torch.nn.LSTM"),
    row("lstm(packed)", "torch.nn.LSTM"),
    row("gru(steps)", "torch.nn.GRU"),
    row("attention(x[:, None], x[:, None], x[:, None])", "torch.nn.MultiheadAttention"),
    row("attention(steps, steps, steps, key_padding_mask=padding)", "torch.nn.MultiheadAttention"),
    row("attention(steps, steps, steps, need_weights=False)", "torch.nn.MultiheadAttention"),
    row("encoder(steps)", "torch.nn.TransformerEncoder", mode="train", src_key_padding_mask="absent"),
    row(
        "encoder(steps, src_key_padding_mask=padding)",
        "torch.nn.TransformerEncoder",
        mode="train",
        src_key_padding_mask="given",
    ),
    row(
        "with torch.no_grad(): frozen_encoder(steps, src_key_padding_mask=padding)",
        "torch.nn.TransformerEncoder",
        mode="eval without grad",
        src_key_padding_mask="given",
    ),
    row(
        "with torch.no_grad(): frozen_encoder(steps)",
        "torch.nn.TransformerEncoder",
        mode="eval without grad",
        src_key_padding_mask="absent",
    ),
    row("adaptive(x, adaptive_labels)", "torch.nn.AdaptiveLogSoftmaxWithLoss"),
    row("normed(x)", "torch.nn.utils.parametrizations.weight_norm"),
    row("spectral(x)", "torch.nn.utils.parametrizations.spectral_norm"),
    row('nn.Linear(16, 16, device="cuda")', "torch.nn.Linear"),
    # Autograd
    row("loss.backward()", ".backward"),
    row("masked_loss.backward()", ".backward", graph="holds x[mask]"),
    row("written_loss.backward()", ".backward", graph="holds x[mask] = value"),
    row("selected_loss.backward()", ".backward", graph="holds masked_select"),
    row("indexed_loss.backward()", ".backward"),
    row("where_loss.backward()", ".backward"),
    row("embedding_loss.backward()", ".backward"),
    row("sparse_loss.backward()", ".backward"),
    row("checkpointed.backward()", ".backward"),
    row("torch.autograd.backward(loss)", "torch.autograd.backward"),
    row("torch.autograd.grad(loss, params)", "torch.autograd.grad"),
    row("torch.autograd.grad(loss, params, create_graph=True)", "torch.autograd.grad"),
    row("with torch.autograd.detect_anomaly(check_nan=True): loss.backward()", "torch.autograd.detect_anomaly"),
    row("with torch.no_grad(): model(x)", "torch.no_grad"),
    row("with torch.inference_mode(): model(x)", "torch.inference_mode"),
    row("checkpoint(model, leaf, use_reentrant=False)", "torch.utils.checkpoint.checkpoint"),
    row("checkpoint(model, leaf, use_reentrant=True)", "torch.utils.checkpoint.checkpoint"),
    row("torch.func.grad(square)(x)", "torch.func.grad"),
    row("torch.vmap(square)(x)", "torch.vmap"),
    row("torch.autograd.functional.jacobian(square, x)", "torch.autograd.functional.jacobian"),
    row("leaf.requires_grad_(False)", ".requires_grad_"),
    row("model.zero_grad()", "torch.nn.Module.zero_grad"),
    # The model as data
    row("model.state_dict()", "torch.nn.Module.state_dict"),
    row("{k: v.clone() for k, v in model.state_dict().items()}", "torch.nn.Module.state_dict"),
    row("{k: v.cpu() for k, v in model.state_dict().items()}", ".cpu"),
    row("twin.load_state_dict(state)", "torch.nn.Module.load_state_dict", state_dict="device"),
    row("twin.load_state_dict(host_state)", "torch.nn.Module.load_state_dict", state_dict="host"),
    row("copy.deepcopy(model)", "copy.deepcopy"),
    row("torch.save(model.state_dict(), io.BytesIO())", "torch.save"),
    row("torch.save(host_state, io.BytesIO())", "torch.save", obj="host"),
    row("sum(p.numel() for p in model.parameters())", ".numel"),
    row("model.train()", "torch.nn.Module.train"),
    row("model.eval()", "torch.nn.Module.eval"),
    row("nn.utils.parameters_to_vector(params)", "torch.nn.utils.parameters_to_vector"),
    row("nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(params), params)"),
    row("torch.compiler.is_compiling()", "torch.compiler.is_compiling"),
)
