from .evaluation import evaluate
from .segmentation import SegmentationTrainer
