"""Train a small transformer to tell the pitches of noisy tones apart, and report how long a step takes.

It works, on CPU and CUDA, and learns well. It also holds seven common ways to leave a GPU idle or its memory full, all
of which torchlint finds; `train_repaired.py` is the same program without them.

    python examples/train.py
    torchlint examples/train.py
"""

from __future__ import annotations

import argparse
import math
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, RandomSampler


class Tones(Dataset):
    """Spectrograms of a tone in noise; each class has a pitch of its own. A sample is made when it is asked for."""

    def __init__(self, samples: int, classes: int, seed: int, points: int = 1024) -> None:
        self.samples, self.classes, self.seed, self.points = samples, classes, seed, points
        self.window = torch.hann_window(128)

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = index % self.classes
        draw = torch.Generator().manual_seed(self.seed * self.samples + index)
        pitch = 0.1 + 0.2 * (label + torch.rand(1, generator=draw)) / self.classes
        wave = torch.sin(2 * math.pi * pitch * torch.arange(self.points)) + torch.randn(self.points, generator=draw)
        spectrum = torch.stft(wave, n_fft=128, window=self.window, return_complex=True)
        return spectrum.abs().log1p().T, label  # [frames, bands]


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        weights = scores.softmax(dim=-1)
        mixed = weights @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norms[0](x))
        return x + self.mlp(self.norms[1](x))


class Classifier(nn.Module):
    """Scores a spectrogram by its likeness to one learned prototype for each class."""

    def __init__(self, bands: int, classes: int, width: int, depth: int, heads: int) -> None:
        super().__init__()
        self.embed = nn.Linear(bands, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.prototypes = nn.Parameter(torch.randn(classes, width))

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        pooled = self.blocks(self.embed(frames)).mean(dim=1)
        likeness = [F.cosine_similarity(row, self.prototypes, dim=-1) for row in pooled]
        return 10 * torch.stack(likeness)


def train(model: nn.Module, dataset: Tones, args: argparse.Namespace, device: torch.device) -> float:
    """One line per epoch; returns the mean loss of the last."""
    order = RandomSampler(dataset, generator=torch.Generator().manual_seed(args.seed))
    loader = DataLoader(dataset, batch_size=args.batch, sampler=order)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    mean = math.nan
    for epoch in range(args.epochs):
        total_loss, best, seconds = 0.0, math.inf, 0.0
        for frames, labels in loader:
            frames, labels = frames.to(device), labels.to(device)
            start = time.perf_counter()
            optimizer.zero_grad()
            loss = F.cross_entropy(model(frames), labels)
            loss.backward()
            optimizer.step()
            seconds += time.perf_counter() - start
            total_loss += loss
            best = min(best, loss.item())
        mean = total_loss.item() / len(loader)
        print(f"epoch {epoch}: loss {mean:.4f}, best {best:.4f}, {1e3 * seconds / len(loader):.2f} ms a step")
    return mean


@torch.no_grad()
def accuracy(model: nn.Module, dataset: Tones, batch: int, device: torch.device) -> float:
    model.eval()
    right = torch.zeros((), dtype=torch.long, device=device)
    for frames, labels in DataLoader(dataset, batch_size=batch, num_workers=2, pin_memory=device.type == "cuda"):
        guesses = model(frames.to(device, non_blocking=True)).argmax(-1)
        right += (guesses == labels.to(device, non_blocking=True)).sum()
    return right.item() / len(dataset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--classes", type=int, default=8)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    model = Classifier(65, args.classes, args.width, args.depth, args.heads).to(device)
    loss = train(model, Tones(args.samples, args.classes, seed=1), args, device)
    right = accuracy(model, Tones(args.samples // 4, args.classes, seed=2), args.batch, device)
    print(f"final loss {loss:.4f}, held-out accuracy {right:.3f}")


if __name__ == "__main__":
    main()
