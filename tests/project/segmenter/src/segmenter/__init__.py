"""A small training library, laid out as real ones are."""

from .engine import SegmentationTrainer, evaluate
from .models import UNet

__all__ = ["SegmentationTrainer", "UNet", "evaluate"]
