"""What names of torch and of the libraries around it give when they are called or read.

Source: the PyTorch documentation (torch 2.11) and its type stubs. Sets of bare names; qualified names where a prefix
matters.
"""

from __future__ import annotations

import functools
from typing import Final

from torchlint.knowledge.devices import ASKED, of_runtime

# Functions under `torch.` that make a tensor of sizes, numbers or data: on the host unless `device=` says otherwise.
FACTORIES: Final = frozenset(
    """arange as_tensor asarray bartlett_window blackman_window complex empty empty_permuted empty_strided eye from_file
    full hamming_window hann_window kaiser_window linspace logspace normal ones rand randint randn randperm range
    scalar_tensor sparse_coo_tensor sparse_csr_tensor tensor tril_indices triu_indices zeros""".split()
)
# Those that share the device of their first argument unless `device=` says otherwise.
LIKE_FACTORIES: Final = frozenset("empty_like full_like ones_like rand_like randint_like randn_like zeros_like".split())
# Methods that make a tensor on their receiver's device.
NEW_METHODS: Final = frozenset("new new_empty new_full new_ones new_tensor new_zeros new_empty_strided".split())

# Functions under `torch.` that do not return tensors.
NOT_TENSOR: Final[dict[str, str]] = {
    **dict.fromkeys(
        """allclose are_deterministic_algorithms_enabled can_cast equal get_float32_matmul_precision
        get_num_interop_threads get_num_threads initial_seed is_anomaly_enabled is_autocast_enabled is_complex
        is_floating_point is_grad_enabled is_inference_mode_enabled is_nonzero is_storage is_tensor
        is_warn_always_enabled numel seed""".split(),
        "number",
    ),
    **dict.fromkeys(
        """manual_seed set_default_device set_default_dtype set_default_tensor_type set_float32_matmul_precision
        set_grad_enabled set_num_interop_threads set_num_threads set_printoptions set_rng_state save
        use_deterministic_algorithms set_deterministic_debug_mode set_warn_always""".split(),
        "none",
    ),
    "broadcast_shapes": "shape",
    **dict.fromkeys(
        """load compile no_grad enable_grad inference_mode autocast Generator Size device dtype finfo iinfo
        get_default_device get_device_module get_rng_state import_ir_module vmap stack_trace typename""".split(),
        "other",
    ),
    **dict.fromkeys(
        """get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_default_dtype promote_types
        result_type""".split(),
        "dtype",
    ),
}

# Functions under `torch.` and methods that return a tuple of tensors.
TUPLES: Final = frozenset(
    """aminmax broadcast_tensors chunk cummax cummin dsplit eig frexp geqrf hsplit kthvalue meshgrid mode qr
    slogdet sort split split_with_sizes std_mean svd svd_lowrank tensor_split topk triangular_solve unbind
    unsafe_chunk unsafe_split var_mean vsplit lu unravel_index pca_lowrank histogram""".split()
)
# With `dim=`, those return (values, indices); without, one tensor.
VALUES_AND_INDICES: Final = frozenset("max min median nanmedian mode kthvalue topk sort cummax cummin".split())

# Methods and functions whose result has no graph whatever goes in: integer or boolean results.
GRAPH_FREE: Final = frozenset(
    """argmax argmin argsort argwhere bincount bool bucketize byte ceil count_nonzero detach detach_ eq equal floor ge
    gt heaviside histc int isclose isfinite isin isinf isnan isneginf isposinf isreal le logical_and logical_not
    logical_or logical_xor long lt multinomial ne nonzero not_equal one_hot randint randperm round searchsorted short
    sign signbit trunc unique unique_consecutive less less_equal greater greater_equal bitwise_and bitwise_or
    bitwise_xor bitwise_not bernoulli_ all any char rand_like randn_like zeros_like ones_like empty_like full_like
    randint_like""".split()
)
BOOLEAN: Final = frozenset(
    """eq ge gt isclose isfinite isin isinf isnan isneginf isposinf isreal le logical_and logical_not logical_or
    logical_xor lt ne not_equal signbit bool all any less less_equal greater greater_equal""".split()
)
INTEGER: Final = frozenset(
    """argmax argmin argsort argwhere bincount bucketize count_nonzero long multinomial nonzero one_hot randint
    randperm searchsorted""".split()
)
CAST_METHODS: Final[dict[str, str]] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "bool": "bool",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

# Reductions: without `dim`, a 0-d tensor.
REDUCTIONS: Final = frozenset(
    """all amax amin any argmax argmin count_nonzero dist dot logsumexp max mean median min nanmean nanmedian nansum
    norm prod std sum trace var vdot""".split()
)
# Losses of torch.nn.functional and torch.nn: a 0-d tensor unless `reduction="none"`.
LOSSES: Final = frozenset(
    """binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy ctc_loss
    gaussian_nll_loss hinge_embedding_loss huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss
    multilabel_margin_loss multilabel_soft_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
    triplet_margin_loss triplet_margin_with_distance_loss""".split()
)

# Methods that only a tensor has among the things that training code handles: using one is evidence by itself.
TENSOR_ONLY_METHODS: Final = frozenset(
    """backward clone contiguous detach detach_ unsqueeze unsqueeze_ permute expand expand_as masked_fill masked_fill_
    scatter_ scatter gather index_add_ index_add index_select view view_as type_as is_contiguous requires_grad_
    retain_grad new_zeros new_ones new_tensor new_full new_empty chunk unbind narrow softmax log_softmax sigmoid tanh
    relu exp log sqrt rsqrt pow clamp clamp_ clamp_min masked_select nonzero topk argmax argmin long float half
    bfloat16 double logsumexp square abs add_ mul_ sub_ div_ copy_ zero_ fill_ lerp lerp_ addcmul_ addcdiv_ neg
    matmul bmm mm einsum unfold unflatten flatten masked_scatter isnan isinf isfinite lt gt le ge eq ne
    scatter_add_ scatter_add cumsum cumprod logical_and logical_or logical_not type pin_memory record_stream
    data_ptr is_floating_point to_dense index_fill_ index_copy_ repeat_interleave amax amin numel""".split()
)
TENSOR_ONLY_ATTRIBUTES: Final = frozenset("grad grad_fn requires_grad mT is_leaf".split()) | ASKED

# Operations and modules' functions that give other numbers on each call.
RANDOM: Final = frozenset(
    """alpha_dropout bernoulli dropout dropout1d dropout2d dropout3d feature_alpha_dropout feature_dropout
    gumbel_softmax multinomial normal poisson rand rand_like randint randint_like randn randn_like randperm
    rrelu""".split()
)
# What `math`, NumPy and torch name without a call: numbers, and torch's layouts and memory formats.
NUMBERS: Final = frozenset("e inf nan newaxis pi".split())
TORCH_CONSTANTS: Final = NUMBERS | frozenset(
    "channels_last contiguous_format preserve_format sparse_coo strided".split()
)
# The classes of tensors of a dtype, which are called to make one.
TENSOR_CLASSES: Final = tuple(f"torch.{kind}Tensor" for kind in "Float Double Half Long Int Short Byte Bool".split())

# Attributes of a tensor and what they are.
TENSOR_ATTRIBUTES: Final[dict[str, str]] = {
    "shape": "shape",
    "device": "device",
    "dtype": "dtype",
    "ndim": "number",
    **dict.fromkeys(ASKED, "number"),
    "is_cpu": "number",
    "is_leaf": "number",
    "is_sparse": "number",
    "requires_grad": "number",
    "itemsize": "number",
    "nbytes": "number",
    "layout": "other",
    "T": "same",
    "mT": "same",
    "H": "same",
    "mH": "same",
    "real": "same",
    "imag": "same",
    "data": "detached",
    "grad": "detached",
    "grad_fn": "other",
    "values": "same",
    "indices": "same",
}

# Methods and functions whose result shares its memory with the operand.
VIEWS: Final = frozenset(
    """as_strided chunk detach diagonal expand expand_as movedim moveaxis narrow permute ravel select split squeeze
    swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze view view_as""".split()
)
# Methods whose arguments are sizes and dimensions.
TAKE_SIZES: Final = frozenset(
    """chunk expand flatten flip movedim narrow permute repeat reshape roll split squeeze swapaxes tile transpose
    unflatten unfold unsqueeze view""".split()
)
# Methods that are told where to act by a mask of truth values.
TAKE_MASKS: Final = frozenset("masked_fill masked_fill_ masked_scatter masked_scatter_ masked_select".split())
# Those that share it where no copy is needed.
PERHAPS_VIEWS: Final = frozenset("contiguous flatten reshape reshape_as to type".split())

# Methods of a tensor that give something else than one tensor.
TENSOR_METHOD_RESULTS: Final[dict[str, str]] = {
    "size": "shape",
    **dict.fromkeys("dim ndimension numel nelement element_size get_device stride storage_offset".split(), "number"),
    **dict.fromkeys(
        """is_contiguous is_floating_point is_complex is_pinned is_shared is_set_to equal allclose is_same_size
        is_inference data_ptr""".split(),
        "number",
    ),
    "item": "number",
    "tolist": "container",
    "numpy": "ndarray",
    "__array__": "ndarray",
    **dict.fromkeys(
        "backward retain_grad register_hook register_post_accumulate_grad_hook record_stream share_memory_".split(),
        "none",
    ),
}

# Things under `torch.nn` that are not modules.
NN_NOT_MODULES: Final = frozenset("Parameter Buffer UninitializedParameter init functional utils parallel".split())
NN_CONTAINERS: Final = frozenset("Sequential ModuleList ModuleDict".split())

# Libraries whose results are never on a device.
HOST_LIBRARIES: Final = frozenset(
    """PIL argparse array ast asyncio base64 bisect collections contextlib copy csv ctypes cv2 dataclasses datetime
    decimal enum fractions functools gc glob gym gymnasium h5py hashlib heapq imageio inspect io itertools json
    librosa logging math matplotlib multiprocessing nltk numbers numpy omegaconf operator os pandas pathlib
    platform plotly pprint psutil pyarrow queue random re requests scipy seaborn shutil signal sklearn skimage socket
    soundfile sqlite3 statistics string struct subprocess sys tabulate tempfile textwrap threading time timeit tqdm
    traceback typing unittest urllib uuid warnings yaml zipfile""".split()
)

# Functions of those whose result is an array, and those that give one first of several results.
ARRAY_READERS: Final = frozenset(
    """cv2.GaussianBlur cv2.cvtColor cv2.flip cv2.imdecode cv2.imread cv2.resize imageio.imread imageio.v2.imread
    imageio.v3.imread librosa.amplitude_to_db librosa.feature.melspectrogram librosa.feature.mfcc librosa.power_to_db
    librosa.resample librosa.stft scipy.ndimage.zoom skimage.io.imread skimage.transform.resize tifffile.imread
    """.split()
)
ARRAYS_AND_RATES: Final = frozenset("librosa.load librosa.core.load soundfile.read".split())

CLOCKS: Final = frozenset(
    """time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic time.monotonic_ns
    time.process_time time.process_time_ns timeit.default_timer""".split()
)

# After this call all work launched before is done.
FULL_WAIT: Final = "torch.cuda.synchronize"

# Wrappers of a loader that yield the same batches.
LOADER_WRAPPERS: Final = frozenset(
    """tqdm.tqdm tqdm.auto.tqdm tqdm.notebook.tqdm tqdm.trange rich.progress.track itertools.islice itertools.cycle
    itertools.chain iter enumerate list tuple reversed sorted""".split()
)
LOADERS: Final = frozenset(
    """torch.utils.data.DataLoader torch.utils.data.dataloader.DataLoader torch_geometric.loader.DataLoader
    torch_geometric.data.DataLoader torch_geometric.loader.NeighborLoader
    torchdata.stateful_dataloader.StatefulDataLoader torch.utils.data.distributed.DataLoader
    monai.data.DataLoader""".split()
)
BATCH_SAMPLERS: Final = frozenset("torch.utils.data.BatchSampler torch.utils.data.sampler.BatchSampler".split())
DATASETS: Final = frozenset(
    """torch.utils.data.Dataset torch.utils.data.IterableDataset torch.utils.data.dataset.Dataset
    torchvision.datasets.VisionDataset torch.utils.data.TensorDataset torch.utils.data.Subset
    torch.utils.data.ConcatDataset torch_geometric.data.Dataset torchvision.datasets.ImageFolder""".split()
)
DATASET_PACKAGES: Final = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")
# Wrappers that keep a module's replicas in step.
REPLICAS: Final = frozenset(
    """torch.nn.parallel.DistributedDataParallel torch.nn.DataParallel torch.nn.parallel.DataParallel
    torch.distributed.fsdp.FullyShardedDataParallel
    torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel""".split()
)
# Bases that say nothing of what a class is.
PLAIN_BASES: Final = frozenset("object abc.ABC typing.Generic typing.Protocol".split())

MODULE_BASES: Final = frozenset(
    """torch.nn.Module torch.nn.modules.module.Module torch.nn.modules.Module lightning.LightningModule
    pytorch_lightning.LightningModule lightning.pytorch.LightningModule pytorch_lightning.core.LightningModule
    torch_geometric.nn.MessagePassing transformers.PreTrainedModel transformers.modeling_utils.PreTrainedModel
    torch.jit.ScriptModule torch.nn.Sequential diffusers.ModelMixin""".split()
)
OPTIMIZER_BASES: Final = frozenset("torch.optim.Optimizer torch.optim.optimizer.Optimizer".split())
SCALERS: Final = frozenset(
    "torch.amp.GradScaler torch.cuda.amp.GradScaler torch.amp.grad_scaler.GradScaler torch.cpu.amp.GradScaler".split()
)
AUTOGRAD_FUNCTION: Final = "torch.autograd.Function"

# Methods of a training framework whose result is the loss.
TRAINED_STEPS: Final = frozenset({"training_step", "compute_loss"})

# Methods that a framework calls once per step, by the last part of the name of the base class whose contract says so:
# these bases come from packages that are not read.
STEP_METHODS: Final[dict[str, frozenset[str]]] = {
    "LightningModule": frozenset(
        """training_step validation_step test_step predict_step on_train_batch_start on_train_batch_end
        on_before_backward on_after_backward on_before_optimizer_step optimizer_step configure_gradient_clipping
        on_before_zero_grad lr_scheduler_step training_step_end validation_step_end""".split()
    ),
    "TrainerCallback": frozenset("on_step_begin on_step_end on_substep_end on_pre_optimizer_step".split()),
    "Callback": frozenset("on_train_batch_start on_train_batch_end on_before_optimizer_step on_after_backward".split()),
    "Trainer": frozenset("compute_loss training_step prediction_step".split()),
    "TrainerModel": frozenset("train_step eval_step test_step".split()),  # of Coqui's trainer
    "BaseModel": frozenset("train_step val_step test_step".split()),  # of MMEngine
    "Metric": frozenset(["update"]),
}

# The events on which Ignite runs what is decorated for them once per step.
STEP_EVENTS: Final = frozenset(
    f"ignite.engine.{owner}Events.{name}"
    for owner in ("", "events.")
    for name in "ITERATION_STARTED ITERATION_COMPLETED GET_BATCH_STARTED GET_BATCH_COMPLETED".split()
)

# Parameters of those methods that are no batch: frameworks pass these by name, or call them so in their interface.
STEP_NUMBERS: Final = frozenset("batch_idx dataloader_idx optimizer_idx epoch return_outputs".split())
STEP_OWNERS: Final = frozenset(
    """engine trainer pl_module model optimizer optimizer_closure optim_wrapper scheduler criterion metric args state
    control""".split()
)

# What a framework gives the instances of classes whose names end so, and its class.
FRAMEWORK_ATTRIBUTES: Final[dict[str, tuple[str, str]]] = {"accelerator": ("Trainer", "accelerate.Accelerator")}

# What declares a field of a class whose instances hold something else than the class does.
FIELDS: Final = frozenset("dataclasses.field attr.ib attrs.field pydantic.Field".split())

# Methods by which a framework's trainer asks, once, for the loader that it runs through in each epoch.
EPOCH_LOADERS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("LightningModule", "LightningDataModule"), frozenset(("train_dataloader", "val_dataloader"))),
    "Trainer": frozenset(("get_train_dataloader",)),
}

# Methods that their framework calls with autograd off.
NO_GRAD_METHODS: Final[dict[str, frozenset[str]]] = {
    "LightningModule": frozenset("validation_step test_step predict_step validation_step_end".split()),
    "Trainer": frozenset("prediction_step evaluation_loop".split()),
    "Metric": frozenset("update compute".split()),
    "Callback": frozenset(
        "on_validation_batch_start on_validation_batch_end on_test_batch_end on_train_batch_end".split()
    ),
    "Dataset": frozenset("__getitem__ __iter__".split()),
}

# Methods that register a hook, and what the hook is given: a module with its outputs and their graph, a module with
# gradients, or one tensor without a graph, a gradient or a parameter.
HOOK_REGISTRARS: Final[dict[str, str]] = {
    "register_forward_hook": "forward",
    "register_forward_pre_hook": "forward",
    "register_module_forward_hook": "forward",
    "register_full_backward_hook": "backward",
    "register_full_backward_pre_hook": "backward",
    "register_backward_hook": "backward",
    "register_hook": "tensor",
    "register_post_accumulate_grad_hook": "tensor",
}

SETUP_METHODS: Final = frozenset(
    """__init__ __new__ __post_init__ __init_subclass__ __del__ __repr__ __str__ setup build configure_optimizers
    prepare_data setup_model setup_data train_dataloader val_dataloader test_dataloader state_dict load_state_dict
    save load save_pretrained from_pretrained load_weights save_checkpoint load_checkpoint reset_parameters
    init_weights _init_weights initialize_weights export export_onnx to_onnx extra_repr __getstate__ __setstate__
    __reduce__ _load_from_state_dict _save_to_state_dict _apply register configure_model on_fit_start on_fit_end
    on_train_start on_train_end on_train_epoch_start on_train_epoch_end on_validation_epoch_end on_test_epoch_end
    on_validation_epoch_start on_save_checkpoint on_load_checkpoint""".split()
)

BUILTINS: Final = frozenset(
    """abs all any bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr dict dir divmod
    enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int isinstance
    issubclass iter len list locals map max memoryview min next object oct open ord pow print property quit range repr
    reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip __import__""".split()
)

DATA_PARALLEL: Final = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel")

# What pytest passes to a test by itself.
TEST_FIXTURES: Final = frozenset(
    "self monkeypatch tmp_path tmpdir capsys capfd caplog request recwarn benchmark mocker".split()
)
LOG_METHODS: Final = frozenset("debug info warning warn error exception critical log".split())
WARNING_METHODS: Final = frozenset("warning warn warn_explicit error critical exception".split())
# Decorators under which a function runs once for the arguments that it is given.
MEMOS: Final = frozenset("functools.cache functools.lru_cache functools.cached_property".split())
# Decorators that take a function's text for a kernel in a language of their own.
KERNEL_COMPILERS: Final = frozenset(
    "triton.jit tilelang.language.prim_func tvm.script.tir.prim_func numba.cuda.jit numba.njit cupy.fuse".split()
)
EXITS: Final = frozenset("sys.exit os._exit os.abort exit quit".split())  # none of what is before them runs again
ASSERTIONS: Final = frozenset("torch._assert torch._check".split())
DEBUG_WORDS: Final = ("debug", "verbose", "profil", "trace", "tracing", "sanity", "benchmark_mode")

DTYPES: Final[dict[str, str]] = {
    **{
        name: name
        for name in """float32 float64 float16 bfloat16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64
        complex128 complex32 float8_e4m3fn float8_e5m2""".split()
    },
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
}

NAMESPACES: Final = frozenset(
    """torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.parallel torch.optim
    torch.optim.lr_scheduler torch.utils torch.utils.data torch.utils.data.distributed torch.utils.checkpoint
    torch.utils.tensorboard torch.utils.benchmark torch.cuda torch.cuda.amp torch.amp torch.autograd
    torch.autograd.profiler torch.backends torch.backends.cudnn torch.backends.cuda torch.backends.cuda.matmul
    torch.distributed torch.distributed.fsdp torch.distributions torch.linalg torch.fft torch.special torch.profiler
    torch.jit torch.onnx torch.random torch.sparse torch.testing torch.multiprocessing torch.distributed.nn
    torch._dynamo torch.compiler torch.func torch.fx torch.hub torch.version torch.library torch.overrides numpy
    numpy.random numpy.linalg os os.path""".split()
)

# The classes of `torch.distributions`, and the modules that they stand in.
DISTRIBUTIONS: Final = frozenset(
    """Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential FisherSnedecor Gamma
    Geometric Gumbel HalfCauchy HalfNormal Independent InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal
    LogisticNormal LowRankMultivariateNormal MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial Normal
    OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli RelaxedOneHotCategorical StudentT
    TransformedDistribution Uniform VonMises Weibull Wishart""".split()
)
_DISTRIBUTION_MODULES: Final = """bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet
distribution exponential fishersnedecor gamma geometric gumbel half_cauchy half_normal independent inverse_gamma
kumaraswamy laplace lkj_cholesky log_normal logistic_normal lowrank_multivariate_normal mixture_same_family multinomial
multivariate_normal negative_binomial normal one_hot_categorical pareto poisson relaxed_bernoulli relaxed_categorical
studentT transformed_distribution uniform von_mises weibull wishart""".split()

_CANONICAL: Final[tuple[tuple[str, str], ...]] = (
    ("torch.nn.modules.", "torch.nn."),
    ("torch.functional.", "torch."),
    ("torch.optim.optimizer.", "torch.optim."),
    ("torch.utils.data.dataloader.", "torch.utils.data."),
    ("torch.utils.data.dataset.", "torch.utils.data."),
    ("torch.nn.parameter.", "torch.nn."),
    ("torch.cuda.amp.grad_scaler.", "torch.cuda.amp."),
    ("torch.nn.utils.clip_grad.", "torch.nn.utils."),
    ("torch.nn.parallel.distributed.", "torch.nn.parallel."),
    ("torch.cuda.streams.", "torch.cuda."),
    ("torch.distributed.distributed_c10d.", "torch.distributed."),
    ("torch._tensor.", "torch."),
    ("torch.distributions.kl.", "torch.distributions."),
    *((f"torch.distributions.{module}.", "torch.distributions.") for module in _DISTRIBUTION_MODULES),
)
_DEFINED_DEEPER: Final = frozenset(
    """activation adaptive batchnorm container conv distance dropout embedding flatten fold instancenorm linear loss
    module normalization padding pixelshuffle pooling rnn sparse transformer upsampling""".split()
)


@functools.lru_cache(maxsize=4096)
def canonical(qual: str) -> str:
    """The public name of a thing that has several: `torch.nn.modules.linear.Linear` is `torch.nn.Linear`.

    What runs an accelerator goes by its name for CUDA, whatever kind that is.
    """
    qual = of_runtime(qual)
    if not qual.startswith("torch."):
        return qual
    for prefix, public in _CANONICAL:
        if qual.startswith(prefix):
            rest = qual[len(prefix) :]
            if prefix == "torch.nn.modules.":
                head, _, tail = rest.partition(".")
                rest = tail if tail and head in _DEFINED_DEEPER else rest
            return public + rest
    return qual


# The context managers in which operations choose their dtype.
AUTOCASTS: Final = frozenset(
    f"torch.{name}autocast" for name in ("", "amp.", "cuda.amp.", "cpu.amp.", "amp.autocast_mode.")
)

# Modules of torch.nn without parameters.
PARAMETERLESS: Final = frozenset(
    """ReLU GELU SiLU Sigmoid Tanh Softmax LogSoftmax Dropout Dropout2d MaxPool1d MaxPool2d AvgPool2d Flatten Identity
    Upsample LeakyReLU ELU Softplus ReLU6 Hardtanh AdaptiveAvgPool2d AdaptiveMaxPool2d Unflatten Hardswish Mish
    CosineSimilarity PairwiseDistance ZeroPad2d PixelShuffle""".split()
)
