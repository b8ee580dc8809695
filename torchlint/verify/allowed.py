"""The names that measured code may use. Made by benchmarks/verify/list_names.py; do not edit.

Read from torch 2.13.0 and NumPy 2.4.6.
"""

from __future__ import annotations

# module -> its names, apart from submodules
NAMES = {
    "collections": """
ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque namedtuple
""",
    "collections.abc": """
AsyncGenerator AsyncIterable AsyncIterator Awaitable ByteString Callable Collection Container Coroutine Generator
Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet
Reversible Sequence Set Sized ValuesView
""",
    "contextlib": """
AbstractAsyncContextManager AbstractContextManager ContextDecorator ExitStack closing contextmanager nullcontext
suppress
""",
    "copy": """
Error copy deepcopy
""",
    "dataclasses": """
Field FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field fields is_dataclass replace
""",
    "enum": """
CONFORM CONTINUOUS EJECT Enum EnumCheck Flag FlagBoundary IntEnum IntFlag KEEP NAMED_FLAGS ReprEnum STRICT StrEnum
UNIQUE auto pickle_by_enum_name pickle_by_global_name unique verify
""",
    "functools": """
cache cached_property cmp_to_key lru_cache partial partialmethod reduce total_ordering update_wrapper wraps
""",
    "gc": """
collect disable enable freeze isenabled
""",
    "itertools": """
accumulate chain combinations combinations_with_replacement compress count cycle dropwhile filterfalse groupby
islice pairwise permutations product repeat starmap takewhile tee zip_longest
""",
    "math": """
acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp exp2 expm1 fabs
factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp lgamma log log10
log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt tan tanh tau trunc ulp
""",
    "numpy": """
False_ True_ __version__ abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort
argwhere around array array2string array_equal array_equiv array_repr array_split array_str asanyarray asarray
asarray_chkfinite ascontiguousarray asfortranarray asin asinh asmatrix astype atan atan2 atanh atleast_1d atleast_2d
atleast_3d average bartlett base_repr binary_repr bincount bitwise_and bitwise_count bitwise_invert
bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast
broadcast_arrays broadcast_shapes broadcast_to busday_count busday_offset busdaycalendar byte bytes_ c_ can_cast
cbrt cdouble ceil character choose clip clongdouble column_stack common_type complex128 complex256 complex64
complexfloating compress concat concatenate conj conjugate convolve copy copysign copyto corrcoef correlate cos cosh
count_nonzero cov cross csingle cumprod cumsum cumulative_prod cumulative_sum datetime64 datetime_as_string
datetime_data deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal diff digitize divide
divmod dot double dsplit dstack dtype e ediff1d einsum einsum_path empty empty_like equal errstate euler_gamma exp
exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix flatiter flatnonzero flexible flip fliplr flipud
float128 float16 float32 float64 float_power floating floor floor_divide fmax fmin fmod format_float_positional
format_float_scientific frexp frombuffer fromfunction fromiter fromstring full full_like gcd generic geomspace
getbufsize geterr gradient greater greater_equal half hamming hanning heaviside histogram histogram2d
histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo imag index_exp indices inexact inf inner
insert int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert is_busday isclose iscomplex
iscomplexobj isdtype isfinite isfortran isin isinf isnan isnat isneginf isposinf isreal isrealobj isscalar
issubdtype iterable ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace little_endian log log10
log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace long longdouble longlong
mask_indices matmul matrix matrix_transpose matvec max maximum may_share_memory mean median meshgrid mgrid min
min_scalar_type minimum mintypecode mod modf moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod
nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndenumerate ndim
ndindex negative newaxis nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad
partition percentile permute_dims pi piecewise place poly poly1d polyadd polyder polydiv polyfit polyint polymul
polysub polyval positive pow power printoptions prod promote_types ptp put put_along_axis putmask quantile r_
rad2deg radians ravel ravel_multi_index real real_if_close reciprocal remainder repeat require reshape resize
result_type right_shift rint roll rollaxis roots rot90 round row_stack s_ searchsorted select set_printoptions
setdiff1d seterr setxor1d shape shares_memory short sign signbit signedinteger sin sinc single sinh size sort
sort_complex spacing split sqrt square squeeze stack std str_ subtract sum swapaxes take take_along_axis tan tanh
tensordot tile timedelta64 trace transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros triu
triu_indices triu_indices_from true_divide trunc typename ubyte ufunc uint uint16 uint32 uint64 uint8 uintc uintp
ulong ulonglong union1d unique unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
unsignedinteger unstack unwrap ushort vander var vdot vecdot vecmat vectorize void vsplit vstack where zeros
zeros_like
""",
    "numpy.fft": """
fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn
""",
    "numpy.linalg": """
LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power
matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve
trace vecdot vector_norm
""",
    "numpy.random": """
BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence beta binomial bytes chisquare
choice default_rng dirichlet exponential f gamma geometric get_state gumbel hypergeometric laplace logistic
lognormal logseries multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal
pareto permutation poisson power rand randint randn random random_integers random_sample ranf rayleigh sample seed
set_state shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular uniform
vonmises wald weibull zipf
""",
    "operator": """
abs add and_ call concat contains countOf delitem eq floordiv ge getitem gt iadd iand iconcat ifloordiv ilshift
imatmul imod imul index indexOf inv invert ior ipow irshift is_ is_not isub itemgetter itruediv ixor le length_hint
lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub truediv truth xor
""",
    "random": """
Random betavariate choice choices expovariate gammavariate gauss getrandbits getstate lognormvariate normalvariate
paretovariate randbytes randint random randrange sample seed setstate shuffle triangular uniform vonmisesvariate
weibullvariate
""",
    "time": """
CLOCK_BOOTTIME CLOCK_MONOTONIC CLOCK_MONOTONIC_RAW CLOCK_PROCESS_CPUTIME_ID CLOCK_REALTIME CLOCK_TAI
CLOCK_THREAD_CPUTIME_ID altzone asctime clock_getres clock_gettime clock_gettime_ns ctime daylight get_clock_info
gmtime localtime mktime monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns sleep
strftime strptime struct_time thread_time thread_time_ns time time_ns timezone tzname
""",
    "torch": """
BoolTensor ByteTensor CharTensor DoubleTensor Event FloatTensor Generator GradScaler HalfTensor IntTensor LongTensor
OutOfMemoryError ShortTensor Size Stream SymBool SymFloat SymInt TYPE_CHECKING Tensor USE_GLOBAL_DEPS
USE_RTLD_GLOBAL_WITH_LIBTORCH __version__ _assert _foreach_abs _foreach_abs_ _foreach_acos _foreach_acos_
_foreach_add _foreach_add_ _foreach_addcdiv _foreach_addcdiv_ _foreach_addcmul _foreach_addcmul_ _foreach_asin
_foreach_asin_ _foreach_atan _foreach_atan_ _foreach_ceil _foreach_ceil_ _foreach_clamp_max _foreach_clamp_max_
_foreach_clamp_min _foreach_clamp_min_ _foreach_clone _foreach_copy_ _foreach_cos _foreach_cos_ _foreach_cosh
_foreach_cosh_ _foreach_div _foreach_div_ _foreach_erf _foreach_erf_ _foreach_erfc _foreach_erfc_ _foreach_exp
_foreach_exp_ _foreach_expm1 _foreach_expm1_ _foreach_floor _foreach_floor_ _foreach_frac _foreach_frac_
_foreach_lerp _foreach_lerp_ _foreach_lgamma _foreach_lgamma_ _foreach_log _foreach_log10 _foreach_log10_
_foreach_log1p _foreach_log1p_ _foreach_log2 _foreach_log2_ _foreach_log_ _foreach_max _foreach_maximum
_foreach_maximum_ _foreach_minimum _foreach_minimum_ _foreach_mm _foreach_mul _foreach_mul_ _foreach_neg
_foreach_neg_ _foreach_norm _foreach_pow _foreach_pow_ _foreach_powsum _foreach_reciprocal _foreach_reciprocal_
_foreach_round _foreach_round_ _foreach_rsqrt _foreach_rsqrt_ _foreach_sigmoid _foreach_sigmoid_ _foreach_sign
_foreach_sign_ _foreach_sin _foreach_sin_ _foreach_sinh _foreach_sinh_ _foreach_sqrt _foreach_sqrt_ _foreach_sub
_foreach_sub_ _foreach_tan _foreach_tan_ _foreach_tanh _foreach_tanh_ _foreach_trunc _foreach_trunc_ _foreach_zero_
abs abs_ absolute acos acos_ acosh acosh_ adaptive_avg_pool1d adaptive_max_pool1d add addbmm addcdiv addcmul addmm
addmv addmv_ addr adjoint affine_grid_generator alias_copy all allclose alpha_dropout alpha_dropout_ amax amin
aminmax angle any arange arccos arccos_ arccosh arccosh_ arcsin arcsin_ arcsinh arcsinh_ arctan arctan2 arctan_
arctanh arctanh_ are_deterministic_algorithms_enabled argmax argmin argsort argwhere as_strided as_strided_
as_strided_copy as_strided_scatter as_tensor asarray asin asin_ asinh asinh_ atan atan2 atan_ atanh atanh_
atleast_1d atleast_2d atleast_3d autocast avg_pool1d baddbmm bartlett_window batch_norm batch_norm_backward_elemt
batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats batch_norm_gather_stats_with_counts
batch_norm_stats batch_norm_update_stats bernoulli bfloat16 bilinear binary_cross_entropy_with_logits bincount
binomial bit bits16 bits1x8 bits2x4 bits4x2 bits8 bitwise_and bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor blackman_window block_diag bmm bool broadcast_shapes broadcast_tensors broadcast_to
bucketize can_cast cartesian_prod cat ccol_indices_copy cdist cdouble ceil ceil_ celu celu_ cfloat chain_matmul
chalf channel_shuffle channels_last channels_last_3d cholesky cholesky_inverse cholesky_solve
choose_qparams_optimized chunk clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clip clip_ clone
col_indices_copy column_stack combinations complex complex128 complex32 complex64 concat concatenate cond conj
conj_physical conj_physical_ constant_pad_nd contiguous_format conv1d conv2d conv3d conv_tbc conv_transpose1d
conv_transpose2d conv_transpose3d convolution copysign corrcoef cos cos_ cosh cosh_ cosine_embedding_loss
cosine_similarity count_nonzero cov cross crow_indices_copy ctc_loss cummax cummin cumprod cumsum
cumulative_trapezoid deg2rad deg2rad_ dequantize det detach detach_ detach_copy device diag diag_embed diagflat
diagonal diagonal_copy diagonal_scatter diff digamma dist div divide dot double dropout dropout_ dsmm dsplit dstack
dtype e einsum embedding embedding_bag embedding_renorm_ empty empty_like empty_permuted empty_quantized
empty_strided enable_grad eq equal erf erf_ erfc erfc_ erfinv exp exp2 exp2_ exp_ expand_copy expm1 expm1_ eye
fake_quantize_per_channel_affine fake_quantize_per_tensor_affine feature_alpha_dropout feature_alpha_dropout_
feature_dropout feature_dropout_ fill fill_ finfo fix fix_ flatten flip fliplr flipud float float16 float32
float4_e2m1fn_x2 float64 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float_power floor
floor_ floor_divide fmax fmin fmod frac frac_ frexp frobenius_norm from_numpy frombuffer full full_like
fused_moving_avg_obs_fake_quant gather gcd gcd_ ge geqrf ger get_autocast_dtype get_default_device get_default_dtype
get_deterministic_debug_mode get_device get_float32_matmul_precision get_num_threads get_rng_state gradient greater
greater_equal grid_sampler grid_sampler_2d grid_sampler_3d group_norm gru gru_cell gt half hamming_window
hann_window hardshrink has_lapack has_mkl has_openmp has_spectral hash_tensor heaviside hinge_embedding_loss histc
histogram histogramdd hsmm hsplit hspmm hstack hypot i0 i0_ igamma igammac iinfo imag index_add index_copy
index_fill index_put index_put_ index_reduce index_select indices_copy inf inference_mode initial_seed inner
instance_norm int int1 int16 int2 int3 int32 int4 int5 int6 int64 int7 int8 int_repr inverse is_anomaly_enabled
is_autocast_enabled is_complex is_conj is_deterministic_algorithms_warn_only_enabled is_distributed
is_floating_point is_grad_enabled is_inference is_inference_mode_enabled is_neg is_nonzero is_same_size is_signed
is_storage is_tensor is_vulkan_available is_warn_always_enabled isclose isfinite isin isinf isnan isneginf isposinf
isreal istft jagged kaiser_window kl_div kron kthvalue layer_norm layout lcm lcm_ ldexp ldexp_ le
legacy_contiguous_format lerp less less_equal lgamma linspace lobpcg log log10 log10_ log1p log1p_ log2 log2_ log_
log_softmax logaddexp logaddexp2 logcumsumexp logdet logical_and logical_not logical_or logical_xor logit logit_
logspace logsumexp long lstm lstm_cell lt lu lu_solve lu_unpack manual_seed margin_ranking_loss masked_fill
masked_scatter masked_select matmul matrix_exp matrix_power max max_pool1d max_pool1d_with_indices max_pool2d
max_pool3d maximum mean median memory_format meshgrid min minimum mm mode moveaxis movedim msort mul multinomial
multiply mv mvlgamma nan nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy
native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm native_norm ne neg neg_
negative negative_ newaxis nextafter no_grad nonzero nonzero_static norm norm_except_dim normal not_equal
nuclear_norm numel ones ones_like orgqr ormqr outer pairwise_distance pca_lowrank pdist permute permute_copy pi
pinverse pixel_shuffle pixel_unshuffle poisson poisson_nll_loss polar polygamma positive pow prelu preserve_format
prod promote_types put q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qint32
qint8 qr quantile quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic quint2x4 quint4x2 quint8
rad2deg rad2deg_ rand rand_like randint randint_like randn randn_like randperm range ravel real reciprocal
reciprocal_ relu relu_ remainder renorm repeat_interleave reshape resize_as_ resize_as_sparse_ resolve_conj
resolve_neg result_type rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 round round_
row_indices_copy row_stack rrelu rrelu_ rsqrt rsqrt_ rsub saddmm scalar_tensor scatter scatter_add scatter_reduce
searchsorted seed select select_copy select_scatter selu selu_ set_anomaly_enabled set_default_device
set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_grad_enabled set_num_threads
set_printoptions set_rng_state set_warn_always sgn short sigmoid sigmoid_ sign signbit sin sin_ sinc sinc_ sinh
sinh_ slice_copy slice_inverse slice_scatter slogdet smm softmax sort sparse_bsc sparse_bsc_tensor sparse_bsr
sparse_bsr_tensor sparse_compressed_tensor sparse_coo sparse_coo_tensor sparse_csc sparse_csc_tensor sparse_csr
sparse_csr_tensor split split_copy split_with_sizes split_with_sizes_copy spmm sqrt sqrt_ square square_ squeeze
squeeze_copy sspaddmm stack std std_mean stft strided sub subtract sum svd svd_lowrank swapaxes swapdims
sym_constrain_range sym_constrain_range_for_size t t_copy take take_along_dim tan tan_ tanh tanh_ tensor
tensor_split tensordot thread_safe_generator threshold threshold_ tile topk trace transpose transpose_copy trapezoid
trapz triangular_solve tril tril_indices triplet_margin_loss triu triu_indices true_divide trunc trunc_ typename
uint1 uint16 uint2 uint3 uint32 uint4 uint5 uint6 uint64 uint7 uint8 unbind unbind_copy unflatten unfold_copy unique
unique_consecutive unique_dim unravel_index unsafe_chunk unsafe_split unsafe_split_with_sizes unsqueeze
unsqueeze_copy use_deterministic_algorithms values_copy vander var var_mean vdot view_as_complex
view_as_complex_copy view_as_real view_as_real_copy view_copy vmap vsplit vstack where xlogy xlogy_ zero_ zeros
zeros_like
""",
    "torch._dynamo": """
mark_dynamic mark_static reset
""",
    "torch.amp": """
GradScaler autocast custom_bwd custom_fwd is_autocast_available
""",
    "torch.autograd": """
Function Variable backward detect_anomaly enable_grad grad inference_mode no_grad set_detect_anomaly
set_grad_enabled
""",
    "torch.autograd.function": """
Function FunctionCtx InplaceFunction once_differentiable
""",
    "torch.autograd.functional": """
hessian hvp jacobian jvp vhp vjp
""",
    "torch.autograd.graph": """
save_on_cpu saved_tensors_hooks
""",
    "torch.autograd.profiler": """
emit_nvtx profile record_function
""",
    "torch.backends": """

""",
    "torch.backends.cuda": """
enable_flash_sdp enable_math_sdp enable_mem_efficient_sdp flash_sdp_enabled math_sdp_enabled
mem_efficient_sdp_enabled sdp_kernel
""",
    "torch.backends.cuda.matmul": """
allow_bf16_reduced_precision_reduction allow_fp16_reduced_precision_reduction allow_tf32 fp32_precision
""",
    "torch.backends.cudnn": """
allow_tf32 benchmark deterministic enabled is_available version
""",
    "torch.backends.mps": """
is_available
""",
    "torch.compiler": """
allow_in_graph cudagraph_mark_step_begin disable is_compiling is_dynamo_compiling reset set_stance
""",
    "torch.cuda": """
BFloat16Tensor BoolTensor ByteTensor CUDAGraph DoubleTensor Event FloatTensor HalfTensor IntTensor LongTensor
OutOfMemoryError Stream StreamContext current_device current_stream default_stream device device_count empty_cache
get_device_capability get_device_name get_device_properties get_rng_state get_sync_debug_mode graph
graph_pool_handle init initial_seed is_available is_bf16_supported is_current_stream_capturing is_initialized
make_graphed_callables manual_seed manual_seed_all max_memory_allocated max_memory_reserved mem_get_info
memory_allocated memory_reserved memory_stats memory_summary reset_max_memory_allocated reset_peak_memory_stats seed
seed_all set_device set_rng_state set_stream set_sync_debug_mode stream synchronize
""",
    "torch.cuda.amp": """
GradScaler autocast custom_bwd custom_fwd
""",
    "torch.cuda.nvtx": """
mark range range_pop range_push
""",
    "torch.distributions": """
AbsTransform AffineTransform Bernoulli Beta Binomial CatTransform Categorical Cauchy Chi2 ComposeTransform
ContinuousBernoulli CorrCholeskyTransform CumulativeDistributionTransform Dirichlet Distribution ExpTransform
Exponential ExponentialFamily FisherSnedecor Gamma GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal
Independent IndependentTransform InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal
LowRankMultivariateNormal LowerCholeskyTransform MixtureSameFamily Multinomial MultivariateNormal NegativeBinomial
Normal OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson PositiveDefiniteTransform PowerTransform
RelaxedBernoulli RelaxedOneHotCategorical ReshapeTransform SigmoidTransform SoftmaxTransform SoftplusTransform
StackTransform StickBreakingTransform StudentT TanhTransform Transform TransformedDistribution Uniform VonMises
Weibull Wishart biject_to identity_transform kl_divergence transform_to
""",
    "torch.fft": """
Tensor fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq
rfftn
""",
    "torch.func": """
debug_unwrap functional_call functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize rearrange
replace_all_batch_norm_modules_ stack_module_state vjp vmap
""",
    "torch.jit": """
Final annotate export ignore is_scripting is_tracing unused
""",
    "torch.linalg": """
LinAlgError cholesky cholesky_ex cond cross det diagonal eig eigh eigvals eigvalsh householder_product inv inv_ex
ldl_factor ldl_factor_ex ldl_solve lstsq lu lu_factor lu_factor_ex lu_solve matmul matrix_exp matrix_norm
matrix_power matrix_rank multi_dot norm pinv qr slogdet solve solve_ex solve_triangular svd svdvals tensorinv
tensorsolve vander vecdot vector_norm
""",
    "torch.nn": """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d
AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d
BatchNorm3d Bilinear Buffer CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d
ConstantPad2d ConstantPad3d Container Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d DataParallel Dropout Dropout1d Dropout2d
Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU
GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss
Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell
LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d
LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear
LeakyReLU Linear LinearCrossEntropyLoss LinearCrossEntropyOptions LocalResponseNorm LogSigmoid LogSoftmax MSELoss
MarginRankingLoss MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Module ModuleDict
ModuleList MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss NLLLoss2d PReLU
PairwiseDistance Parameter ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNBase RNNCell
RNNCellBase RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus
Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold Transformer TransformerDecoder TransformerDecoderLayer
TransformerEncoder TransformerEncoderLayer TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold
UninitializedBuffer UninitializedParameter Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d
ZeroPad3d factory_kwargs
""",
    "torch.nn.attention": """
SDPBackend sdpa_kernel
""",
    "torch.nn.attention.flex_attention": """
BlockMask and_masks create_block_mask create_mask flex_attention noop_mask or_masks
""",
    "torch.nn.functional": """
BroadcastingList1 BroadcastingList2 BroadcastingList3 DType ScalingType SwizzleType TYPE_CHECKING Tensor
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices
affine_grid alpha_dropout assert_int_or_pair avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
binary_cross_entropy binary_cross_entropy_with_logits boolean_dispatch celu celu_ channel_shuffle conv1d conv2d
conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity
cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu elu_ embedding embedding_bag feature_alpha_dropout
fold fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm grouped_mm gumbel_softmax
handle_torch_function hardshrink hardsigmoid hardswish hardtanh hardtanh_ has_torch_function
has_torch_function_unary has_torch_function_variadic hinge_embedding_loss huber_loss instance_norm interpolate
kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear linear_cross_entropy local_response_norm log_softmax
logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d
max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish mse_loss
multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
native_channel_shuffle nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle
poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_ scaled_dot_product_attention scaled_grouped_mm
scaled_mm selu selu_ sigmoid silu smooth_l1_loss soft_margin_loss softmax softmin softplus softshrink softsign tanh
tanhshrink threshold threshold_ triplet_margin_loss triplet_margin_with_distance_loss unfold upsample
upsample_bilinear upsample_nearest
""",
    "torch.nn.init": """
calculate_gain constant constant_ dirac dirac_ eye eye_ kaiming_normal kaiming_normal_ kaiming_uniform
kaiming_uniform_ normal normal_ ones_ orthogonal orthogonal_ sparse sparse_ trunc_normal_ uniform uniform_
xavier_normal xavier_normal_ xavier_uniform xavier_uniform_ zeros_
""",
    "torch.nn.modules": """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d
AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss BatchNorm1d BatchNorm2d
BatchNorm3d Bilinear CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d CircularPad3d ConstantPad1d
ConstantPad2d ConstantPad3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss
CosineSimilarity CrossEntropyLoss CrossMapLRN2d Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag
FeatureAlphaDropout Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GaussianNLLLoss
GroupNorm Hardshrink Hardsigmoid Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d
InstanceNorm2d InstanceNorm3d KLDivLoss L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d
LazyBatchNorm2d LazyBatchNorm3d LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d
LazyConvTranspose3d LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LeakyReLU Linear
LinearCrossEntropyLoss LinearCrossEntropyOptions LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss
MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Module ModuleDict ModuleList
MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss NLLLoss2d PReLU
PairwiseDistance ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNBase RNNCell RNNCellBase
RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d
SELU Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus Softshrink Softsign
SyncBatchNorm Tanh Tanhshrink Threshold Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder
TransformerEncoderLayer TripletMarginLoss TripletMarginWithDistanceLoss Unflatten Unfold Upsample
UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
""",
    "torch.nn.modules.module": """
Module
""",
    "torch.nn.parallel": """
DataParallel data_parallel
""",
    "torch.nn.parameter": """
Buffer Parameter UninitializedParameter
""",
    "torch.nn.utils": """
clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ convert_conv2d_weight_memory_format
convert_conv3d_weight_memory_format fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval
fuse_linear_bn_weights get_total_norm parameters_to_vector remove_spectral_norm remove_weight_norm skip_init
spectral_norm vector_to_parameters weight_norm
""",
    "torch.nn.utils.clip_grad": """
clip_grad_norm_ clip_grad_value_
""",
    "torch.nn.utils.rnn": """
PackedSequence invert_permutation pack_padded_sequence pack_sequence pad_packed_sequence pad_sequence
unpack_sequence unpad_sequence
""",
    "torch.optim": """
ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax LBFGS Muon NAdam Optimizer RAdam RMSprop Rprop SGD SparseAdam
swap_in_optimizer_params_and_state
""",
    "torch.optim.lr_scheduler": """
ChainedScheduler ConstantLR CosineAnnealingLR CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler
LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR PolynomialLR ReduceLROnPlateau SequentialLR StepLR
""",
    "torch.optim.swa_utils": """
AveragedModel SWALR get_ema_avg_fn get_ema_multi_avg_fn get_swa_avg_fn get_swa_multi_avg_fn update_bn
""",
    "torch.profiler": """
ProfilerAction ProfilerActivity profile record_function schedule supported_activities
""",
    "torch.random": """
fork_rng get_rng_state initial_seed manual_seed seed set_rng_state thread_safe_generator
""",
    "torch.sparse": """
addmm as_sparse_gradcheck check_sparse_tensor_invariants log_softmax mm softmax sum to_sparse_semi_structured
""",
    "torch.special": """
airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v
chebyshev_polynomial_w digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc gammaincc gammaln
hermite_polynomial_h hermite_polynomial_he i0 i0e i1 i1e laguerre_polynomial_l legendre_polynomial_p log1p log_ndtr
log_softmax logit logsumexp modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 multigammaln
ndtr ndtri polygamma psi round scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w sinc softmax
spherical_bessel_j0 xlog1py xlogy zeta
""",
    "torch.utils": """

""",
    "torch.utils.checkpoint": """
checkpoint checkpoint_sequential
""",
    "torch.utils.data": """
BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset RandomSampler Sampler
SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler default_collate
default_convert get_worker_info random_split
""",
    "torch.version": """
cuda hip
""",
    "typing": """
AbstractSet Annotated Any AnyStr AsyncContextManager AsyncGenerator AsyncIterable AsyncIterator Awaitable BinaryIO
ByteString Callable ChainMap ClassVar Collection Concatenate Container ContextManager Coroutine Counter DefaultDict
Deque Dict Final FrozenSet Generator Generic Hashable IO ItemsView Iterable Iterator KeysView List Literal
LiteralString Mapping MappingView Match MutableMapping MutableSequence MutableSet NamedTuple Never NewType NoReturn
NotRequired Optional OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Pattern Protocol Required Reversible Self
Sequence Set Sized SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex SupportsInt SupportsRound
TYPE_CHECKING Text TextIO Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple TypedDict Union Unpack ValuesView
assert_never assert_type cast dataclass_transform final get_args is_typeddict no_type_check no_type_check_decorator
overload reveal_type runtime_checkable
""",
}

# attributes of values: of tensors, modules, arrays, containers, text, ...
ATTRIBUTES = """
CONFORM CONTINUOUS CPU CUDA CUDNN_ATTENTION EFFICIENT_ATTENTION EJECT FLASH_ATTENTION H KEEP L2_cache_size MATH
NAMED_FLAGS OptimizerPostHook OptimizerPreHook Q R S STRICT T T_destination U UNIQUE VERSION Vh abbr abs abs_
absolute absolute_ acc_dtype acc_policy acos acos_ acosh acosh_ activation activation_relu_or_gelu add add_
add_metadata add_metadata_json add_module add_note add_param_group add_zero_attn addbmm addbmm_ addcdiv addcdiv_
addcmul addcmul_ addmm addmm_ addmv addmv_ addr addr_ adjoint affine alignment all all_weights allclose
allow_retain_graph amax amin aminmax angle any append appendleft apply arccos arccos_ arccosh arccosh_ arcsin
arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh arctanh_ arg_constraints argmax argmin argpartition
args argsort argwhere as_integer_ratio as_strided as_strided_ as_strided_scatter as_subclass asin asin_ asinh asinh_
astype atan atan2 atan2_ atan_ atanh atanh_ backward baddbmm baddbmm_ base batch_chunk_size batch_first
batch_sampler batch_shape batch_size bernoulli bernoulli_ beta betavariate bfloat16 bias bias_hh_l0 bias_ih_l0
bias_k bias_v bidirectional bijective bincount binomial bit_count bit_generator bit_length bits bitwise_and
bitwise_and_ bitwise_left_shift bitwise_left_shift_ bitwise_not bitwise_not_ bitwise_or bitwise_or_
bitwise_right_shift bitwise_right_shift_ bitwise_xor bitwise_xor_ bmm bool boxed_grads_call broadcast_to buffers
byte byteorder bytes byteswap c_contiguous call_super_init callback capitalize capture_begin capture_end casefold
cauchy_ ccol_indices cdf cdouble ceil ceil_ ceil_mode center cfloat chalf char check_forward_args check_hidden_size
check_input check_worker_number_rationality children chisquare choice choices cholesky cholesky_inverse
cholesky_solve choose chunk chunking_method clamp clamp_ clamp_max clamp_max_ clamp_min clamp_min_ clear
clear_saved_tensors_on_access clip clip_ clone clone_state close coalesce codomain col_indices collate_fn compile
component_distribution compress concentration concentration0 concentration1 conj conj_physical conj_physical_
conjugate const_data_ptr contiguous convert_sync_batchnorm copy copy_ copysign copysign_ corrcoef cos cos_ cosh
cosh_ count count_nonzero cov covariance_matrix cpu cpu_time cpu_time_total cross crow_indices cuda cuda_time_total
cummax cummin cummulative_sizes cumprod cumprod_ cumsum cumsum_ data data_ptr dataset decode default_factory
defaults deg2rad deg2rad_ deleter denominator dense_dim dequantize descr det detach detach_ device device_time
device_time_total df diag diag_embed diagflat diagonal diagonal_scatter diff difference difference_update digamma
digamma_ dilation dim dim_order dirichlet dirty_tensors discard dist div div_ divide divide_ domain dot double
drop_last dropout dropout1 dropout2 dsplit dtype dump_patches eig elapsed_time element_size elements
elementwise_affine embed_dim embedding_dim enable_debug_mode encode endswith enter_context entropy enumerate_support
eps eq eq_ equal erf erf_ erfc erfc_ erfinv erfinv_ eval event_dim event_shape events exp exp2 exp2_ exp_ expand
expand_as expandtabs expm1 expm1_ exponential exponential_ expovariate extend extendleft extra_repr f f_contiguous
fdel fget fields fill fill_ fill_diagonal_ find fix fix_ flags flat flatten flatten_parameters flip fliplr flipud
float float_power float_power_ floor floor_ floor_divide floor_divide_ fmax fmin fmod fmod_ forward forward_shape
frac frac_ frexp from_bytes from_iterable from_pretrained fromhex fromkeys fset func gamma gammavariate gather gauss
gcd gcd_ ge ge_ generate_square_subsequent_mask generate_vmap_rule generator geometric geometric_ geqrf ger get
get_backoff_factor get_buffer get_device get_expected_cell_size get_expected_hidden_size get_extra_state
get_graph_data get_growth_factor get_growth_interval get_last_lr get_lr get_offset get_parameter get_scale get_state
get_submodule get_trace_id getfield getrandbits getstate getter gi_running gi_suspended grad grad_dtype grad_fn
graphsafe_get_state graphsafe_set_state greater greater_ greater_equal greater_equal_ groups gt gt_ gumbel half
hardshrink has_enumerate_support has_rsample has_uninitialized_params hash_tensor hasobject head_dim heaviside
heaviside_ hex hidden_size histc histogram hsplit hypergeometric hypot hypot_ i0 i0_ icdf igamma igamma_ igammac
igammac_ imag in_channels in_cooldown in_features in_order in_proj_bias in_proj_weight index index_add index_add_
index_copy index_copy_ index_fill index_fill_ index_put index_put_ index_reduce index_reduce_ index_select indices
initial_seed initialize_parameters inner inplace input_size insert instantiate int int_repr integers intersection
intersection_update inv inverse inverse_shape ipu is_coalesced is_complex is_conj is_contiguous is_cpu is_cuda
is_distributed is_enabled is_floating_point is_inference is_integer is_ipu is_leaf is_maia is_meta is_mkldnn is_mps
is_mtia is_neg is_nested is_nonzero is_pinned is_quantized is_same_size is_set_to is_shared is_signed is_sparse
is_sparse_csr is_vulkan is_xla is_xpu isalignedstruct isalnum isalpha isascii isbuiltin isclose isdecimal isdigit
isdisjoint isfinite isidentifier isinf islower isnan isnative isneginf isnumeric isposinf isprintable isreal isspace
issubset issuperset istft istitle isupper item items itemsize join jvp k_proj_weight kdim kernel_size key
key_averages keys keywords kind kron kthvalue laplace layout lcm lcm_ ldexp ldexp_ le le_ length lerp lerp_ less
less_ less_equal less_equal_ lgamma lgamma_ linear1 linear2 ljust load_state_dict loc log log10 log10_ log1p log1p_
log2 log2_ log_ log_abs_det_jacobian log_cdf log_normal_ log_prob log_softmax log_survival_function logaddexp
logaddexp2 logcumsumexp logdet logical_and logical_and_ logical_not logical_not_ logical_or logical_or_ logical_xor
logical_xor_ logistic logit logit_ logits lognormal lognormvariate logseries logsumexp long lower lstrip lstsq lt
lt_ lu lu_solve mH mT major maketrans manual_seed mark_dirty mark_non_differentiable mark_shared_storage masked_fill
masked_fill_ masked_scatter masked_scatter_ masked_select materialize materialize_grads matmul matrix_exp
matrix_power max max_norm maximum maxlen maybe_clear_saved_tensors mean median merge_masks metadata min minimum
minor mixture_distribution mm mode module_load modules momentum most_common move_to_end moveaxis movedim msort mtia
mul mul_ multi_processor_count multinomial multiply multiply_ multivariate_hypergeometric multivariate_normal mv
mvlgamma mvlgamma_ n_fields n_sequence_fields n_unnamed_fields name named_buffers named_children named_modules
named_parameters names nan_to_num nan_to_num_ nanmean nanmedian nanquantile nansum narrow narrow_copy nbytes ndim
ndimension ne ne_ needs_input_grad neg neg_ negative negative_ negative_binomial nelement new new_child new_empty
new_empty_strided new_full new_ones new_tensor new_zeros next_functions nextafter nextafter_ non_differentiable
noncentral_chisquare noncentral_f nonzero nonzero_static norm norm1 norm2 norm_first norm_type normal normal_
normalized_shape normalvariate not_equal not_equal_ num num_batches_tracked num_channels num_embeddings num_features
num_groups num_heads num_layers num_samples num_workers numel numerator numpy orgqr ormqr out_channels out_features
out_proj outer output_nr output_padding p padding padding_idx padding_mode parallel_apply param_groups param_shape
parameters parents pareto paretovariate partition permutation permute permute_hidden permuted perplexity
persistent_workers pin_memory pin_memory_device pinverse poisson polygamma polygamma_ pool pop pop_all popitem
popleft positive pow pow_ power precision_matrix predict prefetch_factor prelu prepare_trace preset_metadata_json
probs prod profile_hook_step proj_size push put put_ q_per_channel_axis q_per_channel_scales
q_per_channel_zero_points q_proj_weight q_scale q_zero_point qr qscheme quantile query rad2deg rad2deg_ rand
randbytes randint randn random random_ random_integers random_sample randrange rate ravel rayleigh readonly real
reciprocal reciprocal_ record record_event record_stream recursive_undo register_backward_hook register_buffer
register_forward_hook register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
register_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
register_parameter register_post_accumulate_grad_hook register_prehook register_state_dict_post_hook
register_state_dict_pre_hook register_step_post_hook register_step_pre_hook reinforce release relu relu_ remainder
remainder_ remove removeprefix removesuffix renorm renorm_ repeat repeat_interleave replace replay replicate
requires_grad requires_grad_ reset reset_parameters reset_running_stats reshape reshape_as resize resize_ resize_as
resize_as_ resize_as_sparse_ resolution resolve_conj resolve_neg retain_grad retains_grad return_indices reverse
rfind rindex rjust roll rot90 rotate round round_ row_indices rpartition rsample rsplit rsqrt rsqrt_ rstrip
running_mean running_var sample sample_n sampler save_for_backward save_for_forward saved_for_forward saved_tensors
saved_variables scale scale_fn scale_grad_by_freq scale_tril scatter scatter_ scatter_add scatter_add_
scatter_reduce scatter_reduce_ searchsorted seed select select_scatter self_attn self_cpu_time_total
self_cuda_time_total self_device_time_total send set_backoff_factor set_custom_trace_id_callback
set_default_validate_args set_epoch set_extra_state set_growth_factor set_growth_interval set_materialize_grads
set_offset set_state set_submodule setdefault setfield setflags setstate setter setup_context sgn sgn_ shape short
shuffle sigmoid sigmoid_ sign sign_ signbit sin sin_ sinc sinc_ sinh sinh_ size slice_inverse slice_scatter slogdet
smallest_normal smm softmax solve sort sparse sparse_dim sparse_mask sparse_resize_ sparse_resize_and_clear_ split
split_with_sizes splitlines sqrt sqrt_ square square_ squeeze squeeze_ sspaddmm standard_cauchy standard_exponential
standard_gamma standard_normal standard_t start start_trace startswith state state_dict std stddev step stft stop
stop_trace storage_offset str stride strides strip sub sub_ subdtype suboffsets subtract subtract_ sum sum_to_size
support svd swapaxes swapaxes_ swapcase swapdims swapdims_ symeig symmetric_difference symmetric_difference_update
synchronize t t_ table take take_along_dim tan tan_ tanh tanh_ temperature tensor_split throw tile timeout tiny
title to to_bytes to_complex to_dense to_device to_empty to_mkldnn to_padded_tensor to_real to_save to_sparse
to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tobytes toggle_collection_dynamic tolist
tomaxint topk toreadonly total total_memory trace track_running_stats train training translate transpose transpose_
transposed triangular triangular_solve tril tril_ triu triu_ true_divide true_divide_ trunc trunc_ type type_as
unbind unflatten unfold uniform uniform_ union unique unique_consecutive unsafe_chunk unsafe_split
unsafe_split_with_sizes unscale_ unsqueeze unsqueeze_ update upper v_proj_weight value values var variance vdim vdot
view view_as vjp vmap volatile vonmises vonmisesvariate vsplit wait wait_event wait_stream wald weibull
weibullvariate weight weight_hh_l0 weight_ih_l0 where with_cache worker_init_fn xlogy xlogy_ xpu zero_ zero_grad
zfill zipf
"""

# attributes that are refused whoever defines them
REFUSED_ATTRIBUTES = """
CDLL Popen PyDLL _C _CONTEXT_ATTRS _DataLoader__initialized _DataLoader__multiprocessing_context
_IterableDataset_len_called _Popen _TENSOR_ATTRS _abc_impl _acquire_restore _addmm_activation _after_fork
_aot_compile _at_fork_reinit _auto_collation _autocast_to_full_precision _autocast_to_reduced_precision
_backward_cls _backward_hooks _backward_pre_hooks _bad_message_length _base_seed _bit_generator _bootstrap
_bootstrap_inner _byteswap _call_as_normal _call_impl _call_lazy_check _cdata _cffi _check_available _check_closed
_check_for_existing_members_ _check_inf_per_device _check_readable _check_scale_growth_tracker _check_writable
_checkpoint_offset _clean_up_persistent_workers_atexit _clear_non_serializable_cached_data _coalesced_
_compiled_autograd_backward_state _compiled_autograd_key _compiled_call_impl _conj _conj_physical _convert_ _create_
_create_cb_wrapper _create_exit_wrapper _ctypes _data_ptr _data_queue _dataset_kind _deepcopy _delete _dimI _dimV
_dq_kv_order _element_size _ensure_function_events _evaluate _expired _extended_shape _fake_device _feed
_finalize_close _finalize_join _find_data_repr_ _find_data_type_ _find_new_ _fix_weakref _flatten_with_keys
_forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks_with_kwargs _found_inf_per_device
_free_weak_ref _from_buffer _get_abs_string_index _get_backward_hooks _get_backward_pre_hooks _get_checked_instance
_get_closed_form_lr _get_compiled_autograd_symints _get_data _get_distributed_info _get_filename _get_growth_tracker
_get_item_by_idx _get_iterator _get_legacy_storage_class _get_mixins_ _get_scale_async _get_shared_fd
_get_strided_loop _get_ufunc_and_otypes _getitem _grad_fn _handle _has_symbolic_sizes_strides _in_order
_index_queues _index_sampler _init_flat_weights _init_stage_2 _input_metadata _io _is_all_true _is_any_true
_is_full_backward_hook _is_initial _is_owned _is_protocol _is_pure_view _is_shared _is_torch_compile _is_view
_is_zerotensor _isolate_recompiles_id _launch _lazy_clone _load_aot_compiled_module _load_state_dict_post_hooks
_load_state_dict_pre_hooks _make_methods _make_name _make_subclass _make_wrapper_subclass
_mark_worker_as_unavailable _materialize_non_diff_grads _maybe_opt_step _maybe_warn_non_full_backward_hook
_maybe_wrap_index _memory_profile _module_source _nbytes _neg_view _nested_tensor_size
_nested_tensor_storage_offsets _nested_tensor_strides _new_shared _new_shared_cuda _new_shared_fd_cpu
_new_shared_filename_cpu _new_using_fd_cpu _new_using_filename_cpu _new_with_file _new_with_weak_ptr
_new_wrapped_storage _next_data _next_index _num_yielded _on_queue_feeder_error _opt_mod_attributes
_optimizer_load_state_dict_post_hooks _optimizer_load_state_dict_pre_hooks _optimizer_state_dict_post_hooks
_optimizer_state_dict_pre_hooks _optimizer_step_code _os _parent_name _parent_pid _parse_kineto_results
_patch_step_function _persistent_workers _pg _philox_normal_ _philox_uniform_ _pickle_storage_type
_pin_memory_device _poisson_lam_max _poll _popen _post_accumulate_grad_hooks _prefetch_factor _prepare_trace
_process_data _process_value_according_to_param_policy _profile_name _push_cm_exit _push_exit_callback
_python_dispatch _randbelow _randbelow_with_getrandbits _randbelow_without_getrandbits _raw_saved_tensors _rcvd_idx
_recreate_cm _recv _recv_bytes _reduce_ex_internal _register_hook_dict _register_persistent_workers_atexit
_release_ipc_counter _release_ipc_counter_cuda _release_save _replicate_for_data_parallel _reset_internal_locks
_resize_ _resize_with_addr_ _resolve_dtypes_and_context _rev_view_func_unsafe _sampler_iter
_save_aot_compiled_module _saved_self_sym_sizes _seed_seq _send _send_bytes _send_idx _send_signal _sentinel
_sequence_nr _set_cdata _set_from_file _set_ident _set_native_id _set_sequence_nr _set_tstate_lock _setitem
_share_cuda_ _share_fd_cpu_ _share_filename_cpu_ _share_memory_ _shared_decref _shared_incref _shared_seed _shutdown
_shutdown_workers _slice_dq_kv_order _slow_forward _sparse_mask_projection _start_method _start_thread _start_trace
_state_dict_hooks _state_dict_pre_hooks _super_module_initialized _swap_data_ptr_ _sys _task_info _tasks_outstanding
_thread _to_dense _to_sparse _to_sparse_bsc _to_sparse_bsr _to_sparse_csc _to_sparse_csr _torchdynamo_inline
_torchdynamo_orig_callable _torchdynamo_wrapper_id _trace_ready _transit_action _try_get_data _try_put_index
_typed_storage _unscale_grads_ _unwrap_context_value _update_flat_weights _use_count _validate_sample
_vectorize_call _vectorize_call_with_signature _view_func _view_func_unsafe _wait_for_tstate_lock
_warned_capturable_if_run_uncaptured _weak_ref _weights_have_changed _worker_init_fn _worker_pids_set
_worker_queue_idx_cycle _worker_result_queue _workers _workers_done_event _workers_num_tasks _workers_status
_wrap_context_value _wrapped_call_impl _write _write_file _zero_grad_profile_name add_execution_trace_observer
ag_code ag_frame aot_compile attrname builtins capsule cast cffi check_call check_output cls_to_become co_code
co_consts compile_string compiler_config cr_code cr_frame ctypes cuda_stream custom_device_mod debug_dump dump dumps
dynamo_ctx environ exec execWrapper exec_module execv execve execvp export_chrome_trace export_memory_timeline
export_stacks f_back f_builtins f_code f_globals f_locals fork format format_map from_buffer from_file
from_ipc_handle func_code func_globals gc get_compiler_config getoutput getstatusoutput gi_code gi_frame
gi_yieldfrom import_module importlib inspect io ipc_handle kineto_results load_library load_module loads marshal mro
multiprocessing_context newbyteorder obj os pathlib pickle popen posix_spawn raw_alloc raw_cuda_graph
raw_cuda_graph_exec raw_delete reducer reinterpret_tensor save save_to_buffer set_ share_memory share_memory_ shutil
socket spawn storage storage_type subprocess sys system tb_frame tb_lasti tb_next tofile unsafe_set_data
untyped_storage with_traceback
"""
