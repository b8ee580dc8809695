"""torchlint finds, proves and repairs performance antipatterns in PyTorch code."""

__version__ = "0.1.0"
