"""Loaders that are made in a file, and what feeds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import libcst as cst

from torchlint.findings import Confidence
from torchlint.semantics import sites, surroundings
from torchlint.semantics.functions import ClassInfo, FunctionInfo
from torchlint.semantics.model import Model
from torchlint.semantics.values import DEVICE, Kind, Value

WORDS: Final = ("DataLoader", "NeighborLoader")

# Packages whose functions read, decode or transform: one call a sample is work.
_WORKING_PACKAGES: Final = frozenset(
    """PIL albumentations av csv cv2 decord ffmpeg gzip h5py imageio json librosa lmdb nibabel nltk pickle pydicom
    rasterio requests scipy sentencepiece skimage soundfile spacy sqlite3 subprocess tifffile tokenizers torchaudio
    torchvision transformers wave yaml zarr zipfile""".split()
)
_WORKING_CALLS: Final = frozenset(
    """open torch.load torch.stft torch.istft torch.nn.functional.interpolate torch.nn.functional.grid_sample numpy.load
    numpy.loadtxt numpy.genfromtxt numpy.fromfile pandas.read_csv pandas.read_json pandas.read_parquet
    pandas.read_pickle time.sleep""".split()
)
_WORKING_PREFIXES: Final = ("torch.fft.", "torch.linalg.", "numpy.fft.", "numpy.linalg.", "torch.signal.")
# Methods of tokenizers, images, files and transforms.
_WORKING_METHODS: Final = frozenset(
    """batch_encode_plus decode encode encode_plus open read read_bytes read_text resize rotate tokenize
    transform""".split()
)
# Calls that look up, convert or count: workers would cost more than they save.
_LIGHT_CALLS: Final = frozenset(
    """abs all any bool dict divmod enumerate filter float getattr hasattr int isinstance iter len list map max min next
    print range repr reversed round set slice sorted str sum super tuple type zip
    torch.tensor torch.as_tensor torch.from_numpy torch.is_tensor torch.Tensor torch.LongTensor torch.FloatTensor
    torch.zeros torch.ones torch.arange torch.full torch.empty torch.stack torch.cat numpy.array numpy.asarray
    numpy.ascontiguousarray numpy.float32 numpy.int64""".split()
)
_LIGHT_PREFIXES: Final = ("torch.Tensor.", "list.", "dict.", "str.")


def loader_calls(model: Model) -> Iterator[sites.Call]:
    """The calls that make a loader, outside tests."""
    for site in model.sites.calls:
        made = site.result
        is_new = made.kind is Kind.LOADER and made.items is not None and made.origin is site.node
        if is_new and not surroundings.in_test(site.context):
            yield site


def loaders_reading(model: Model) -> Iterator[sites.Call]:
    """The calls that make a loader in a file, and elsewhere where workers run code of this file."""
    bodies = (function.body for function in model.functions.values())
    runs_in_workers = any(body is not None and surroundings.in_worker(body) for body in bodies)
    for near in model.everywhere(*WORDS) if runs_in_workers else [model]:
        yield from loader_calls(near)


def option(site: sites.Call, name: str, model: Model) -> tuple[bool, Value | None]:
    """Whether an option of a loader is known, and its value; None where it is known to be absent."""
    value = (site.result.items or {}).get(name)
    if value is not None:
        return True, value
    return all(_is_spelled_out(argument, site, model) for argument in site.arguments if argument.star), None


def _is_spelled_out(given: sites.Argument, site: sites.Call, model: Model) -> bool:
    """Whether all keys of `**options` stand where the same code makes the dictionary, or are set by name later."""
    made = given.value.origin if given.star == "**" else None
    if made is None or isinstance(model.parent(made), cst.Param):
        return False
    if model.function_around(made) not in (None, model.function_of(site.context)):
        return False
    if isinstance(made, cst.Dict):
        named = all(isinstance(e, cst.DictElement) and isinstance(e.key, cst.SimpleString) for e in made.elements)
    else:
        call = model.call(made)
        named = call is not None and call.callee == "dict" and all(a.name is not None for a in call.arguments)
    return named and all(_reads_by_name(use, model) for use in model.uses.get(made, ()))


def _reads_by_name(use: cst.BaseExpression, model: Model) -> bool:
    """Whether a use of a dictionary is an entry that is named, or a call that is given all of them."""
    around = model.parent(use)
    if isinstance(around, cst.Arg):
        return around.star == "**"
    return isinstance(around, cst.Subscript) and all(
        isinstance(part.slice, cst.Index) and isinstance(part.slice.value, cst.SimpleString) for part in around.slice
    )


def works_per_sample(site: sites.Call, model: Model) -> tuple[Confidence, str] | None:
    """How sure it is that making a sample costs work, and whose work it is; None where samples only are looked up."""
    options = site.result.items or {}
    collate = options.get("collate_fn")
    if collate is not None and collate.fn is not None and _work_of([collate.fn], model) is Confidence.LIKELY:
        return Confidence.LIKELY, f"`{collate.fn.qualname}`"
    dataset = options.get("dataset")
    return _dataset_works(dataset, model) if dataset is not None else None


def _dataset_works(dataset: Value, model: Model) -> tuple[Confidence, str] | None:
    if dataset.cls is not None:
        return _class_works(dataset.cls, model)
    if dataset.kind not in (Kind.DATASET, Kind.OBJECT, Kind.UNKNOWN):
        return None
    qual = dataset.qual or ""
    if qual.endswith("TensorDataset"):
        return None
    if qual.startswith(("torchvision.", "torchaudio.")):
        return Confidence.LIKELY, f"`{qual.rsplit('.', 1)[-1]}`"
    return Confidence.POSSIBLE, "its dataset"


def _class_works(cls: ClassInfo, model: Model) -> tuple[Confidence, str] | None:
    found = _sample_methods(cls)
    if found:
        confidence = _work_of(found, model)
        return (confidence, f"`{found[0].qualname}`") if confidence is not None else None
    if any(name.startswith(("torchvision.", "torchaudio.")) for name in cls.base_names):
        return Confidence.LIKELY, f"`{cls.name}`"
    return Confidence.POSSIBLE, f"`{cls.name}`"


def _sample_methods(cls: ClassInfo) -> list[FunctionInfo]:
    names = ("__getitem__", "__getitems__", "__iter__")
    return [method for name in names if (method := cls.find_method(name)) is not None]


def sample_functions(site: sites.Call) -> list[FunctionInfo]:
    """The functions that a loader's workers run: its dataset's methods and its collate function."""
    options = site.result.items or {}
    dataset, collate = options.get("dataset"), options.get("collate_fn")
    found = _sample_methods(dataset.cls) if dataset is not None and dataset.cls is not None else []
    if collate is not None:
        called = collate.fn or (collate.cls.find_method("__call__") if collate.cls is not None else None)
        found += [called] if called is not None else []
    return found


def made_on_device(site: sites.Call) -> bool:
    """Whether samples are on a device as they are made: no forked worker can, and nothing can be pinned."""
    todo = [function.returns for function in sample_functions(site)]
    while todo:
        sample = todo.pop()
        if sample is not None and sample.kind is Kind.TENSOR and sample.device == DEVICE:
            return True
        if sample is not None and sample.kind is Kind.CONTAINER:
            todo += [sample.elem, *(sample.items or {}).values()]
    return False


def reached_from(functions: Iterable[FunctionInfo]) -> set[FunctionInfo]:
    """The functions and those that they call."""
    reached: set[FunctionInfo] = set()
    todo = list(functions)
    while todo:
        function = todo.pop()
        if function not in reached:
            reached.add(function)
            todo += [effect.callee for effect in function.effects if effect.callee is not None]
    return reached


def _work_of(functions: Iterable[FunctionInfo], model: Model) -> Confidence | None:
    """The work that functions do, with those that they call."""
    reached = reached_from(functions)
    best: Confidence | None = None
    for near in dict.fromkeys(model.home.get(function.node, model) for function in reached):
        for site in near.looked_at().calls:
            if site.context.owner in reached:
                work = _work(site)
                if work is Confidence.LIKELY:
                    return work
                best = best or work
    return best


def _work(site: sites.Call) -> Confidence | None:
    """What one call says: `likely` work, `possible` work, or None for a look-up."""
    callee = site.callee or ""
    if site.target is not None or callee in _LIGHT_CALLS or callee.startswith(_LIGHT_PREFIXES):
        return None
    if callee in _WORKING_CALLS or callee.startswith(_WORKING_PREFIXES) or callee.split(".", 1)[0] in _WORKING_PACKAGES:
        return Confidence.LIKELY
    if callee:
        return Confidence.POSSIBLE if callee.startswith(("torch.", "numpy.")) else None
    if site.method in _WORKING_METHODS:
        return Confidence.LIKELY
    if site.arguments and site.function.kind is Kind.UNKNOWN and _is_applied(site):
        return Confidence.LIKELY  # a transform, reader or tokenizer that the dataset was given
    return None


def _is_applied(site: sites.Call) -> bool:
    """Whether what is called is held by the dataset itself: `self.transform(x)`, and not a method of what it holds."""
    return site.receiver is None or site.receiver.cls is not None
