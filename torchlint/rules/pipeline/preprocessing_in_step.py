"""TL513: the training process prepares its input itself, on every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.rules._wording import because, quote
from torchlint.rules.base import Report, Rule, RuleSet
from torchlint.semantics import sites, surroundings
from torchlint.semantics.hotness import Hot
from torchlint.semantics.model import Model
from torchlint.semantics.values import Kind

# Reading and decoding, by qualified name, and whole packages that do nothing else.
_PREPARES: Final = frozenset(
    """PIL.Image.open cv2.imread cv2.imdecode cv2.resize cv2.cvtColor cv2.warpAffine imageio.imread imageio.v2.imread
    imageio.v3.imread json.load json.loads librosa.load librosa.resample numpy.load numpy.loadtxt numpy.genfromtxt
    pandas.read_csv pandas.read_json pandas.read_parquet skimage.io.imread soundfile.read torchaudio.load
    torchvision.io.decode_image torchvision.io.decode_jpeg torchvision.io.read_image torchvision.io.read_video
    torchvision.datasets.folder.default_loader""".split()
)
_PREPARING_PACKAGES: Final = ("albumentations.", "decord.", "nltk.", "sentencepiece.", "spacy.", "tokenizers.")
_PROCESSORS: Final = ("Tokenizer", "Processor", "FeatureExtractor", "TokenizerFast")


class PreprocessingInStep(Rule):
    code = "TL513"
    name = "preprocessing-in-step"
    bottleneck = "pipeline"
    summary = "The training process tokenises, decodes or augments its input on every step"
    ruleset = RuleSet.EXTENDED
    calls = ("*",)
    words = (
        "PIL", "albumentations", "cv2", "decord", "from_pretrained", "imageio", "json", "librosa", "load", "nltk",
        "pandas", "return_tensors", "sentencepiece", "skimage", "soundfile", "spacy", "tokenizers", "torchaudio",
        "torchvision",
    )  # fmt: skip

    def on_call(self, site: sites.Call, model: Model) -> Iterator[Report]:
        if site.target is not None or not _prepares(site, model) or surroundings.in_worker(site.context):
            return
        hot = model.hot(site.context)
        if hot is None or not _takes_batches(hot, model):
            return
        yield Report(
            site.node,
            f"{quote(site.node)} prepares the input in the training process on every step, and no kernel is launched",
            "do it in the Dataset or in a `collate_fn`, where loader workers run ahead of the step",
            Confidence.LIKELY,
            because(hot),
        )


def _prepares(site: sites.Call, model: Model) -> bool:
    callee = site.callee or ""
    if callee in _PREPARES or callee.startswith(_PREPARING_PACKAGES):
        return True
    if any(argument.name == "return_tensors" for argument in site.arguments):
        return True  # a tokenizer or processor, wherever it comes from
    processor = site.function if site.receiver is None or site.function.origins else site.receiver
    made = processor.origin
    if not isinstance(made, cst.Call):
        return False
    maker = model.resolve(made.func) or ""
    owner, _, method = maker.rpartition(".")
    return maker.startswith("transformers.") and method == "from_pretrained" and owner.endswith(_PROCESSORS)


def _takes_batches(hot: Hot, model: Model) -> bool:
    """Whether the loop walks data that is there beforehand, and does not make its own as a simulator does."""
    if not isinstance(hot.loop, cst.For):
        return False
    iterable = model.value(hot.loop.iter)
    return iterable.kind is Kind.LOADER or (hot.trains and not (iterable.qual or "").startswith("range"))
