"""Write torchlint/verify/allowed.py: the public names that measured code may use.

Run with the torch and NumPy whose names are wanted: `python benchmarks/verify/list_names.py`. What is left out, and
why, stands here; the policy reads nothing but the list this makes.
"""

from __future__ import annotations

import importlib
import inspect
import re
import textwrap
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._dynamo
import torch.distributions
import torch.functional
import torch.utils.checkpoint
import torch.utils.data

TARGET = Path(__file__).parents[2] / "torchlint" / "verify" / "allowed.py"

# Left out although public: they read or write files, load code, run text, or take raw addresses.
REFUSED = {
    # torch.compile is granted apart, see policy.py; segment_reduce can be told to look at no bounds.
    "torch": "from_file load save compile export get_device_module segment_reduce",
    # They make attributes of any name and value, such as __array_interface__, which NumPy takes raw addresses from.
    "torch.nn": "ParameterDict BufferDict",
    "torch.nn.modules": "ParameterDict BufferDict Container",
    # Tables, which every later call would find as one left them.
    "torch.nn.functional": "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES reproducibility_notes "
    "sparse_support_notes tf32_notes",
    "torch.linalg": "common_notes",
    "torch.distributions": "register_kl",
    # Tensors without memory of their own, whose operators are looked up in a table of their class.
    "torch.sparse": "SparseSemiStructuredTensor SparseSemiStructuredTensorCUSPARSELT SparseSemiStructuredTensorCUTLASS",
    # bmat looks names up in its caller's frame; memoryview is a ScalarType; from_dlpack shares memory that a tensor can
    # still move elsewhere; the last row are tables and settings in which a call can leave word for the next.
    "numpy": "load save savez savez_compressed loadtxt savetxt genfromtxt fromfile fromregex memmap ndarray recarray "
    "DataSource show_config show_runtime get_include info test source lookfor deprecate nested_iters nditer "
    "frompyfunc setbufsize seterrcall recfromcsv recfromtxt record bmat ScalarType from_dlpack "
    "sctypeDict typecodes get_printoptions geterrcall",
    "time": "pthread_getcpuclockid clock_settime clock_settime_ns tzset",
    "random": "SystemRandom",
    "functools": "singledispatch singledispatchmethod WRAPPER_ASSIGNMENTS WRAPPER_UPDATES",  # evaluate annotations
    "contextlib": "redirect_stdout redirect_stderr chdir AsyncExitStack aclosing asynccontextmanager",
    "dataclasses": "make_dataclass",
    # They evaluate text; get_origin(Type[int]) is `type`, which makes classes with any special methods.
    "typing": "get_type_hints ForwardRef evaluate_forward_ref get_origin get_overloads clear_overloads",
    "operator": "attrgetter methodcaller",  # follow attributes that stand in strings
    # An enumeration's class makes classes with any special methods.
    "enum": "global_enum global_enum_repr global_str global_flag_repr property member nonmember EnumMeta EnumType",
}
TORCH = (
    "torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.modules torch.linalg "
    "torch.fft torch.special torch.optim torch.optim.lr_scheduler torch.optim.swa_utils torch.amp "
    "torch.autograd.functional torch.distributions torch.func torch.random torch.sparse"
).split()
# Modules whose listing is mostly machinery: what measured code needs of them, by hand.
BY_HAND = {
    "gc": "collect disable enable freeze isenabled",
    "torch._dynamo": "mark_dynamic mark_static reset",
    "torch.backends": "",
    "torch.backends.cuda": "sdp_kernel enable_flash_sdp enable_math_sdp enable_mem_efficient_sdp flash_sdp_enabled "
    "math_sdp_enabled mem_efficient_sdp_enabled",
    "torch.backends.cuda.matmul": "allow_tf32 allow_bf16_reduced_precision_reduction "
    "allow_fp16_reduced_precision_reduction fp32_precision",
    "torch.backends.cudnn": "benchmark deterministic allow_tf32 enabled is_available version",
    "torch.backends.mps": "is_available",
    "torch.utils": "",
    "torch.utils.checkpoint": "checkpoint checkpoint_sequential",
    "torch.jit": "Final annotate export ignore is_scripting is_tracing unused",
    "torch.version": "cuda hip",
    "torch.nn.utils.clip_grad": "clip_grad_norm_ clip_grad_value_",
    "torch.autograd": "Function Variable backward detect_anomaly enable_grad grad inference_mode no_grad "
    "set_detect_anomaly set_grad_enabled",
    "torch.autograd.function": "Function FunctionCtx InplaceFunction once_differentiable",
    "torch.autograd.graph": "save_on_cpu saved_tensors_hooks",
    "torch.autograd.profiler": "profile record_function emit_nvtx",
    "torch.compiler": "allow_in_graph cudagraph_mark_step_begin disable is_compiling is_dynamo_compiling reset "
    "set_stance",
    "torch.cuda": "CUDAGraph Event Stream StreamContext OutOfMemoryError current_device current_stream default_stream "
    "device device_count empty_cache get_device_capability get_device_name get_device_properties get_rng_state graph "
    "graph_pool_handle init initial_seed is_available is_bf16_supported is_current_stream_capturing is_initialized "
    "make_graphed_callables manual_seed manual_seed_all max_memory_allocated max_memory_reserved mem_get_info "
    "memory_allocated memory_reserved memory_stats memory_summary reset_max_memory_allocated reset_peak_memory_stats "
    "seed seed_all set_device set_rng_state set_stream set_sync_debug_mode get_sync_debug_mode stream synchronize "
    "FloatTensor HalfTensor LongTensor IntTensor BoolTensor ByteTensor DoubleTensor BFloat16Tensor",
    "torch.cuda.amp": "GradScaler autocast custom_bwd custom_fwd",
    "torch.cuda.nvtx": "range_push range_pop range mark",
    "torch.nn.attention": "SDPBackend sdpa_kernel",
    "torch.nn.attention.flex_attention": "BlockMask and_masks create_block_mask create_mask "
    "flex_attention noop_mask or_masks",
    "torch.nn.parallel": "DataParallel data_parallel",
    "torch.nn.parameter": "Parameter Buffer UninitializedParameter",
    "torch.nn.modules.module": "Module",
    "torch.profiler": "profile record_function schedule ProfilerActivity ProfilerAction supported_activities",
    "torch.utils.data": "BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset "
    "RandomSampler Sampler SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset "
    "WeightedRandomSampler default_collate default_convert get_worker_info random_split",
}
STANDARD = (
    "math time random itertools functools contextlib collections collections.abc dataclasses typing enum operator copy"
).split()
# The types measured code can meet: their attributes are those it may read.
VALUES: tuple[type, ...] = (
    torch.Tensor, torch.nn.Module, torch.nn.Parameter, torch.Size, torch.device, torch.dtype, torch.Generator,
    torch.finfo, torch.iinfo, torch.autograd.Function, torch.autograd.function.FunctionCtx, torch.utils.data.DataLoader,
    torch.cuda.Event, torch.cuda.Stream, torch.cuda.CUDAGraph, torch.optim.Optimizer, torch.amp.GradScaler,
    torch.profiler.profile, np.ndarray, np.generic, np.dtype, np.random.Generator, np.random.RandomState,
    str, bytes, bytearray, int, float, complex, bool, list, tuple, dict, set, frozenset, range, slice, property,
    BaseException, StopIteration, types.GeneratorType, types.FunctionType, types.MethodType, type, object, memoryview,
)  # fmt: skip
# Attributes that reach files, code, frames, addresses or other objects' insides; refused even where a file's own class
# defines one of that name.
REFUSED_ATTRIBUTES = """
tofile dump dumps ctypes mro format format_map from_file storage untyped_storage share_memory share_memory_ save
save_to_buffer debug_dump export_chrome_trace export_stacks export_memory_timeline with_traceback
gi_frame gi_code gi_yieldfrom cr_frame cr_code ag_frame ag_code tb_frame tb_next tb_lasti f_globals f_builtins f_locals
f_back f_code co_code co_consts func_globals func_code set_ from_buffer newbyteorder raw_alloc raw_delete
system popen Popen import_module CDLL PyDLL environ check_output check_call getoutput getstatusoutput
execWrapper loads exec_module load_module load_library spawn posix_spawn fork exec execv execve execvp
compile_string builtins importlib subprocess sys os io pickle marshal shutil socket pathlib inspect gc
reinterpret_tensor ipc_handle from_ipc_handle cuda_stream raw_cuda_graph raw_cuda_graph_exec unsafe_set_data
add_execution_trace_observer multiprocessing_context reducer cffi capsule kineto_results custom_device_mod dynamo_ctx
compiler_config get_compiler_config aot_compile obj storage_type cast _os _sys _io _thread _C
attrname cls_to_become
""".split()
# What measured code can come to hold whose private attributes lead to files, processes, addresses or compilers. A file
# may define attributes of its own, and these names among them would open the same of a foreign object: they are found
# on all of these, apart from those that are harmless there and usual elsewhere.
INSIDES = (
    "torch.Tensor torch.UntypedStorage torch.TypedStorage torch.Generator torch.nn.Module torch.optim.Optimizer "
    "torch.optim.lr_scheduler.LRScheduler torch.autograd.Function torch.autograd.function.FunctionCtx "
    "torch.utils.data.DataLoader torch.utils.data.dataloader._SingleProcessDataLoaderIter "
    "torch.utils.data.dataloader._MultiProcessingDataLoaderIter torch._dynamo.eval_frame.OptimizedModule "
    "torch._dynamo.eval_frame.OptimizeContext torch.profiler.profile torch.autograd.profiler.profile "
    "torch.amp.GradScaler torch.autocast multiprocessing.context.ForkContext multiprocessing.context.Process "
    "multiprocessing.connection.Connection multiprocessing.queues.Queue multiprocessing.queues.SimpleQueue "
    "multiprocessing.popen_fork.Popen multiprocessing.synchronize.SemLock multiprocessing.util.Finalize "
    "threading.Thread threading.Condition numpy.ndarray numpy.dtype numpy.ufunc numpy.vectorize "
    "numpy.random.BitGenerator numpy.random.Generator typing.ForwardRef contextlib.ExitStack "
    "contextlib._GeneratorContextManager functools.partial random.Random enum.EnumMeta "
    "torch.nn.RNNBase torch.nn.ParameterList torch.nn.ModuleList "
    "torch.nn.Sequential torch.nn.attention.flex_attention.BlockMask torch.distributions.Distribution"
).split()
# A function that they call for each number could move the tensor's memory meanwhile; files may define others.
WALKS = {"apply_", "map_", "map2_"}
USUAL = (
    "_accelerator_graph_capture_health_check _adjust _apply _args _base _benchmark _buffers _call _cleanup _close "
    "_closed _collate_fn _cond _config _count _cuda_graph_capture_health_check _dataset _device _drop_last _dtype "
    "_enabled "
    "_fields _flatten _forward_hooks _forward_pre_hooks _get_lr_called_within_step _get_name _grad "
    "_group_tensors_by_device_and_dtype _growth_factor _hash _hooks _identity _indices _init_group _initial_step "
    "_initialize _initialized _iterator _key _kwargs _last_lr _lazy_init_scale_growth_tracker _load_from_state_dict "
    "_lock _mapping _modules _name _named_members _nnz _non_persistent_buffers_set _num_samples _num_workers "
    "_optimizer_step_post_hooks _optimizer_step_pre_hooks _orig_mod _pad _parameters _pin_memory _rand _rank _read "
    "_register_hook _register_load_state_dict_pre_hook _register_state_dict_hook _reset _reset_parameters _rng "
    "_save_to_state_dict _scale _size _slice _started _state _stats _step_count _stop _target _timeout _to _unflatten "
    "_update_lr _validate_args _values _version _world_size _writer"
).split()


def public(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("_")]


def members(module: types.ModuleType) -> list[str]:
    """The public names of a module that are not modules, those it says it exports where it says so."""
    names = public(getattr(module, "__all__", None) or dir(module))
    out = []
    for name in names:
        value = getattr(module, name, None)
        home = getattr(value, "__module__", None) or ""
        foreign = home and home.split(".")[0] not in (
            module.__name__.split(".")[0],
            "builtins",
            "_operator",
            "_collections",
        )
        if value is None or isinstance(value, types.ModuleType) or (foreign and not hasattr(module, "__all__")):
            continue
        out.append(name)
    return out


def torch_names() -> list[str]:
    backend = ("cudnn_", "fbgemm_", "miopen_", "mkldnn_", "quantized_")
    functions = [name for name in public(dir(torch._C._VariableFunctions)) if not name.startswith(backend)]
    foreach = [name for name in dir(torch) if name.startswith("_foreach_")]
    plain = (torch.dtype, torch.layout, torch.memory_format, float, int)
    constants = [name for name in public(dir(torch)) if isinstance(getattr(torch, name), plain)]
    exported = [
        name
        for name in public(torch.__all__)
        if not hasattr(torch._C, name) and not name.startswith(("sym_", *backend)) and not name.endswith("Storage")
    ]
    exported += torch.functional.__all__
    by_hand = "Tensor Size Generator device dtype layout finfo iinfo no_grad enable_grad inference_mode " \
        "memory_format " \
        "is_grad_enabled set_grad_enabled get_default_dtype get_num_threads set_num_threads " \
        "is_autocast_enabled set_anomaly_enabled " \
        "get_autocast_dtype is_inference_mode_enabled is_anomaly_enabled Event Stream " \
        "FloatTensor LongTensor IntTensor BoolTensor ByteTensor HalfTensor DoubleTensor " \
        "OutOfMemoryError".split()  # fmt: skip
    return functions + foreach + constants + exported + by_hand + ["_assert"]


def collect() -> dict[str, set[str]]:
    names: dict[str, set[str]] = {"torch": set(torch_names())}
    for path in TORCH:
        names[path] = set(members(importlib.import_module(path)))
    for path in STANDARD:
        module = importlib.import_module(path)
        names[path] = set(members(module)) | ({"ParamSpec", "TypeVar"} if path == "typing" else set())
    names["numpy"] = {name for name in members(np) if not name.startswith("ctypeslib")} | {"newaxis", "__version__"}
    names["torch"].add("__version__")
    for path in ("numpy.random", "numpy.linalg", "numpy.fft"):
        names[path] = set(members(importlib.import_module(path)))
    for path, text in BY_HAND.items():
        names[path] = set(text.split())
    for path, text in REFUSED.items():
        names[path] -= set(text.split())
    return names


def attributes(names: dict[str, set[str]]) -> set[str]:
    values = list(VALUES)
    for path in ("torch.nn", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data", "torch.distributions"):
        values += [
            value for name in names[path] if inspect.isclass(value := getattr(importlib.import_module(path), name))
        ]
    for path in ("collections", "itertools", "functools", "contextlib", "random", "enum"):
        values += [
            value for name in names[path] if inspect.isclass(value := getattr(importlib.import_module(path), name))
        ]
    found = {name for value in values for name in public(dir(value))}
    samples = [torch.nn.Linear(1, 1), torch.nn.Conv2d(1, 1, 1), torch.nn.BatchNorm2d(1), torch.nn.LSTM(1, 1),
               torch.nn.MultiheadAttention(2, 1), torch.nn.Embedding(1, 1), torch.nn.LayerNorm(1), torch.nn.Dropout(),
               torch.nn.TransformerEncoderLayer(2, 1, 2), torch.nn.GroupNorm(1, 1), torch.nn.MaxPool2d(1),
               torch.optim.Adam([torch.zeros(1)]), torch.utils.data.DataLoader([1]), torch.ones(2).sort(),
               torch.ones(2).topk(1), torch.linalg.svd(torch.ones(2, 2)), torch.linalg.qr(torch.ones(2, 2)),
               np.linalg.svd(np.ones((2, 2))), slice(1)]  # fmt: skip
    for sample in samples:
        found.update(public(dir(sample)))
    # Of a CUDA build only: properties of the device, fields of the profiler's rows, arguments of enumerations.
    found.update("name total_memory multi_processor_count major minor L2_cache_size cpu_time_total self_cpu_time_total "
                 "device_time_total self_device_time_total cuda_time_total self_cuda_time_total key count table CPU "
                 "CUDA "
                 "MATH FLASH_ATTENTION EFFICIENT_ATTENTION CUDNN_ATTENTION value args needs_input_grad saved_tensors "
                 "cuda cpu_time device_time".split())  # fmt: skip
    return found - set(REFUSED_ATTRIBUTES) - WALKS


def insides(names: dict[str, set[str]]) -> set[str]:
    """Private names of what measured code can come to hold."""
    kinds = [thing(path) for path in INSIDES]
    layer = torch.nn.Linear(1, 1)
    optimizer = torch.optim.Adam(layer.parameters())
    loader = torch.utils.data.DataLoader([1.0, 2.0], num_workers=1)
    compiled = torch.compile(len, backend="eager")
    workers = iter(loader)
    held = [layer, optimizer, loader, workers, workers._workers[0], compiled, torch.compile(layer, backend="eager"),
            torch.optim.lr_scheduler.StepLR(optimizer, 1), layer(torch.zeros(1)).grad_fn]  # fmt: skip
    found = {name for value in (*kinds, *held) for name in dir(value) if re.fullmatch(r"_(?!_).*(?<!__)", name)}
    return found - {name for known in names.values() for name in known} - set(USUAL)


def thing(path: str) -> Any:
    """What a full name stands for."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def packed(words: Iterable[str]) -> str:
    return "\n".join(textwrap.wrap(" ".join(sorted(words)), 116, break_long_words=False, break_on_hyphens=False))


def main() -> None:
    names = collect()
    parts = [
        '"""The names that measured code may use. Made by benchmarks/verify/list_names.py; do not edit.\n\n'
        f"Read from torch {torch.__version__.split('+')[0]} and NumPy {np.__version__}.\n" + '"""\n',
        "from __future__ import annotations\n",
        "# module -> its names, apart from submodules\nNAMES = {",
        *(f'    "{path}": """\n{packed(names[path])}\n""",' for path in sorted(names)),
        "}\n",
        "# attributes of values: of tensors, modules, arrays, containers, text, ...",
        f'ATTRIBUTES = """\n{packed(attributes(names))}\n"""\n',
        "# attributes that are refused whoever defines them",
        f'REFUSED_ATTRIBUTES = """\n{packed({*REFUSED_ATTRIBUTES, *insides(names)})}\n"""',
    ]
    TARGET.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
