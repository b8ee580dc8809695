"""torch.nn.functional: losses, attention, convolutions, sampling, norms (TL111, TL3xx)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
logits = torch.randn(16, 10, device="cuda", requires_grad=True)
labels = torch.randint(0, 10, (16,), device="cuda")
weight = torch.rand(10, device="cuda")
x = torch.randn(16, 10, device="cuda")
y = torch.rand(16, 10, device="cuda")
var = torch.rand(16, 10, device="cuda") + 0.1
sign = torch.ones(16, device="cuda")
log_probs = torch.randn(50, 4, 20, device="cuda").log_softmax(2)
targets = torch.randint(1, 20, (4, 10), device="cuda")
host_targets = torch.randint(1, 20, (4, 10), dtype=torch.int)
input_lengths = torch.full((4,), 50, device="cuda")
target_lengths = torch.full((4,), 10, device="cuda")
host_input_lengths = torch.full((4,), 50)
host_target_lengths = torch.full((4,), 10)
table = torch.randn(100, 16, device="cuda")
tokens = torch.randint(0, 100, (4, 8), device="cuda")
offsets = torch.tensor([0, 8, 16, 24], device="cuda")
image = torch.randn(2, 3, 16, 16, device="cuda")
grid = torch.rand(2, 8, 8, 2, device="cuda")
theta = torch.randn(2, 2, 3, device="cuda")
kernel = torch.randn(4, 3, 3, 3, device="cuda")
q = torch.randn(2, 4, 32, 64, device="cuda", dtype=torch.float16)
bias = torch.zeros(32, 32, device="cuda", dtype=torch.float16)
keep = torch.ones(32, 32, device="cuda", dtype=torch.bool)
mean3 = torch.zeros(3, device="cuda")
var3 = torch.ones(3, device="cuda")
pooled, where = F.max_pool2d(image, 2, return_indices=True)
"""

LENGTHS = "torch.nn.functional.ctc_loss"

ROWS = (
    # Losses
    row("F.cross_entropy(logits, labels)", "torch.nn.functional.cross_entropy"),
    row("F.cross_entropy(logits, labels, weight=weight)", "torch.nn.functional.cross_entropy"),
    row("F.cross_entropy(logits, labels, ignore_index=0)", "torch.nn.functional.cross_entropy"),
    row("F.cross_entropy(logits, labels, label_smoothing=0.1)", "torch.nn.functional.cross_entropy"),
    row("F.cross_entropy(logits, y)", "torch.nn.functional.cross_entropy"),
    row('F.cross_entropy(logits, labels, reduction="none")', "torch.nn.functional.cross_entropy"),
    row("torch.nn.CrossEntropyLoss()(logits, labels)", "torch.nn.CrossEntropyLoss"),
    row("F.nll_loss(F.log_softmax(logits, 1), labels)", "torch.nn.functional.nll_loss"),
    row("F.mse_loss(x, y)", "torch.nn.functional.mse_loss"),
    row("F.l1_loss(x, y)", "torch.nn.functional.l1_loss"),
    row("F.smooth_l1_loss(x, y)", "torch.nn.functional.smooth_l1_loss"),
    row("F.huber_loss(x, y)", "torch.nn.functional.huber_loss"),
    row("F.binary_cross_entropy(y, y)", "torch.nn.functional.binary_cross_entropy"),
    row("F.binary_cross_entropy_with_logits(x, y)", "torch.nn.functional.binary_cross_entropy_with_logits"),
    row('F.kl_div(x, y, reduction="batchmean")', "torch.nn.functional.kl_div"),
    row("F.cosine_embedding_loss(x, y, sign)", "torch.nn.functional.cosine_embedding_loss"),
    row("F.margin_ranking_loss(x[:, 0], y[:, 0], sign)", "torch.nn.functional.margin_ranking_loss"),
    row("F.triplet_margin_loss(x, y, var)", "torch.nn.functional.triplet_margin_loss"),
    row("F.gaussian_nll_loss(x, y, var)", "torch.nn.functional.gaussian_nll_loss"),
    row("F.poisson_nll_loss(x, y)", "torch.nn.functional.poisson_nll_loss"),
    row("F.multi_margin_loss(x, labels)", "torch.nn.functional.multi_margin_loss"),
    row("F.multilabel_margin_loss(x, torch.zeros_like(x).long())", "torch.nn.functional.multilabel_margin_loss"),
    row("F.soft_margin_loss(x, y)", "torch.nn.functional.soft_margin_loss"),
    row("F.hinge_embedding_loss(x, y)", "torch.nn.functional.hinge_embedding_loss"),
    row(
        "F.ctc_loss(log_probs, targets, input_lengths, target_lengths)",
        LENGTHS,
        input_lengths="device",
        target_lengths="device",
    ),
    row(
        "F.ctc_loss(log_probs, targets, host_input_lengths, host_target_lengths)",
        LENGTHS,
        input_lengths="host",
        target_lengths="host",
    ),
    row(
        "F.ctc_loss(log_probs, targets, (50,) * 4, (10,) * 4)",
        LENGTHS,
        input_lengths="number",
        target_lengths="number",
    ),
    row(
        "F.ctc_loss(log_probs, targets, host_input_lengths, target_lengths)",
        LENGTHS,
        input_lengths="host",
        target_lengths="device",
    ),
    row("F.ctc_loss(log_probs, host_targets, host_input_lengths.int(), host_target_lengths.int())"),
    # Embeddings
    row("F.embedding(tokens, table)", "torch.nn.functional.embedding", max_norm="absent"),
    row("F.embedding(tokens, table, padding_idx=0)", "torch.nn.functional.embedding", max_norm="absent"),
    row("F.embedding(tokens, table, max_norm=1.0)", "torch.nn.functional.embedding", max_norm="given"),
    row("F.embedding_bag(tokens, table)", "torch.nn.functional.embedding_bag"),
    row("F.embedding_bag(tokens.view(-1), table, offsets)", "torch.nn.functional.embedding_bag"),
    row('F.embedding_bag(tokens, table, mode="max")', "torch.nn.functional.embedding_bag"),
    row('torch.nn.Embedding(10, 4, device="cuda")(labels)', "torch.nn.Embedding"),
    # Attention and norms
    row("F.scaled_dot_product_attention(q, q, q)", "torch.nn.functional.scaled_dot_product_attention"),
    row("F.scaled_dot_product_attention(q, q, q, is_causal=True)", "torch.nn.functional.scaled_dot_product_attention"),
    row("F.scaled_dot_product_attention(q, q, q, attn_mask=bias)", "torch.nn.functional.scaled_dot_product_attention"),
    row("F.scaled_dot_product_attention(q, q, q, attn_mask=keep)", "torch.nn.functional.scaled_dot_product_attention"),
    row("F.scaled_dot_product_attention(q, q, q, dropout_p=0.1)", "torch.nn.functional.scaled_dot_product_attention"),
    row("F.scaled_dot_product_attention(q, q[:, :2], q[:, :2], enable_gqa=True)"),
    row("with sdpa_kernel(SDPBackend.MATH): F.scaled_dot_product_attention(q, q, q)"),
    row("F.softmax(x, -1)", "torch.nn.functional.softmax"),
    row("torch.softmax(x, -1)", "torch.softmax"),
    row("F.log_softmax(x, -1)", "torch.nn.functional.log_softmax"),
    row("F.gumbel_softmax(x)", "torch.nn.functional.gumbel_softmax"),
    row("F.gumbel_softmax(x, hard=True)", "torch.nn.functional.gumbel_softmax"),
    row("F.layer_norm(x, (10,))", "torch.nn.functional.layer_norm", eps="absent"),
    row("F.rms_norm(x, (10,))", "torch.nn.functional.rms_norm"),
    row("F.group_norm(image, 3)", "torch.nn.functional.group_norm"),
    row("F.instance_norm(image)", "torch.nn.functional.instance_norm"),
    row("F.batch_norm(image, mean3, var3, training=True)", "torch.nn.functional.batch_norm"),
    row("F.batch_norm(image, mean3, var3)", "torch.nn.functional.batch_norm"),
    row("F.local_response_norm(image, 2)", "torch.nn.functional.local_response_norm"),
    row("F.normalize(x, dim=1)", "torch.nn.functional.normalize"),
    row("F.cosine_similarity(x, y)", "torch.nn.functional.cosine_similarity"),
    row("F.pairwise_distance(x, y)", "torch.nn.functional.pairwise_distance"),
    # Activations
    row("F.relu(x)", "torch.nn.functional.relu"),
    row("F.gelu(x)", "torch.nn.functional.gelu"),
    row("F.silu(x)", "torch.nn.functional.silu"),
    row("F.glu(x)", "torch.nn.functional.glu"),
    row("F.leaky_relu(x, 0.1)", "torch.nn.functional.leaky_relu", negative_slope="number"),
    row("F.prelu(x, weight[:1])", "torch.nn.functional.prelu"),
    row("F.dropout(x, 0.1)", "torch.nn.functional.dropout", p="number"),
    row("F.dropout(x, 0.1, training=False)", "torch.nn.functional.dropout", p="number"),
    row("F.alpha_dropout(x, 0.1, training=True)", "torch.nn.functional.alpha_dropout"),
    # Images and layers
    row("F.linear(x, y)", "torch.nn.functional.linear"),
    row("F.conv2d(image, kernel)", "torch.nn.functional.conv2d"),
    row('F.conv2d(image, kernel, padding="same")', "torch.nn.functional.conv2d"),
    row("F.conv_transpose2d(F.conv2d(image, kernel), kernel)", "torch.nn.functional.conv_transpose2d"),
    row("F.conv1d(image[:, :, 0], kernel[:, :, 0])", "torch.nn.functional.conv1d"),
    row("F.max_pool2d(image, 2)", "torch.nn.functional.max_pool2d"),
    row("F.avg_pool2d(image, 2)", "torch.nn.functional.avg_pool2d"),
    row("F.adaptive_avg_pool2d(image, 1)", "torch.nn.functional.adaptive_avg_pool2d"),
    row("F.adaptive_max_pool2d(image, 4)", "torch.nn.functional.adaptive_max_pool2d"),
    row("F.max_unpool2d(pooled, where, 2)", "torch.nn.functional.max_unpool2d"),
    row("F.grid_sample(image, grid, align_corners=False)", "torch.nn.functional.grid_sample"),
    row("F.affine_grid(theta, (2, 3, 8, 8), align_corners=False)", "torch.nn.functional.affine_grid"),
    row("F.interpolate(image, scale_factor=2)", "torch.nn.functional.interpolate", size="absent"),
    row('F.interpolate(image, size=(8, 8), mode="bilinear")', "torch.nn.functional.interpolate", size="number"),
    row(
        'F.interpolate(image, size=8, mode="bicubic", antialias=True)', "torch.nn.functional.interpolate", size="number"
    ),
    row('F.interpolate(image, size=8, mode="area")', "torch.nn.functional.interpolate", size="number"),
    row("F.unfold(image, 3)", "torch.nn.functional.unfold"),
    row("F.fold(F.unfold(image, 3), (16, 16), 3)", "torch.nn.functional.fold"),
    row("F.pixel_shuffle(torch.cat([image] * 4, 1), 2)", "torch.nn.functional.pixel_shuffle"),
    row('F.pad(image, (1, 1, 1, 1), mode="reflect")', "torch.nn.functional.pad", pad="number", value="absent"),
    row("F.pad(x, (1, 1), value=0.5)", "torch.nn.functional.pad", pad="number", value="number"),
    row('F.bilinear(x, x, torch.ones(3, 10, 10, device="cuda"))', "torch.nn.functional.bilinear"),
)
