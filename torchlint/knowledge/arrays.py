"""What NumPy's functions give: the dtypes of arrays, as data."""

from __future__ import annotations

from typing import Final

# How NumPy spells dtypes, to how torch does.
DTYPES: Final[dict[str, str]] = {
    "numpy.bool_": "bool",
    "numpy.bool": "bool",
    "bool": "bool",
    "float": "float64",
    "numpy.double": "float64",
    "numpy.single": "float32",
    "numpy.half": "float16",
    "int": "int64",
    "numpy.intp": "int64",
    "numpy.long": "int64",
    **{
        spelled.format(name): name
        for name in "float16 float32 float64 int8 int16 int32 int64 uint8 complex64 complex128".split()
        for spelled in ("numpy.{}", "{}")
    },
}
# Functions that make float64 unless they are told otherwise.
DOUBLES: Final = frozenset(
    f"numpy.{name}"
    for name in """empty eye identity linspace logspace geomspace ones zeros bartlett blackman hamming hanning kaiser
    random.beta random.exponential random.gamma random.normal random.rand random.randn random.random
    random.random_sample random.standard_normal random.uniform random.laplace random.lognormal""".split()
)
# Functions that give truth values, and positions or counts.
TRUTHS: Final = frozenset(
    f"numpy.{name}"
    for name in """all any greater greater_equal equal isclose isfinite isin isinf isnan less less_equal logical_and
    logical_not logical_or logical_xor not_equal signbit""".split()
)
POSITIONS: Final = frozenset(
    f"numpy.{name}"
    for name in """argmax argmin argsort argwhere bincount count_nonzero digitize flatnonzero nonzero
    random.integers random.randint random.permutation searchsorted lexsort""".split()
)
# Functions whose result has the dtype of their first array, or of the arrays in it.
KEEP: Final = frozenset(
    f"numpy.{name}"
    for name in """abs absolute amax amin append array asarray ascontiguousarray asanyarray around broadcast_to ceil
    clip column_stack concatenate copy cumprod cumsum delete diag diff dstack empty_like expand_dims flip fliplr flipud
    floor full_like hstack insert linalg.norm max median min moveaxis nan_to_num negative ones_like pad
    prod quantile percentile ravel repeat reshape resize roll rollaxis rot90 round sign sort split square squeeze stack
    sum swapaxes take tile trace transpose tril triu vstack where zeros_like""".split()
)
# The same, but what counts becomes float64.
REAL: Final = frozenset(
    f"numpy.{name}"
    for name in """arccos arcsin arctan arctan2 average cbrt cos cosh cov deg2rad divide exp exp2 expm1 fft.fftfreq
    hypot interp log log10 log1p log2 mean polyval power radians rad2deg reciprocal sin sinh sqrt std tan tanh
    true_divide var""".split()
)
# Functions whose result has the dtype that all their arrays have together.
COMBINE: Final = frozenset(
    f"numpy.{name}"
    for name in "add cross dot fmax fmin inner matmul maximum minimum mod multiply outer power subtract".split()
)
INTEGERS: Final = frozenset("bool int8 int16 int32 int64 uint8".split())
WIDE: Final = frozenset("int32 int64".split())
# Functions, and methods of the same names, that give one number unless they are told an axis.
TO_A_NUMBER: Final = frozenset(
    f"numpy.{name}"
    for name in """all any amax amin argmax argmin average count_nonzero max mean median min nanmax nanmean nanmin
    nansum prod ptp std sum trace var""".split()
)

# Functions of one element each, and methods of the same names: of single numbers they make single numbers.
ELEMENTWISE: Final = frozenset(
    f"numpy.{name}"
    for name in """abs absolute add arccos arcsin arctan arctan2 around cbrt ceil clip copy cos cosh deg2rad divide exp
    exp2 expm1 floor fmax fmin hypot log log10 log1p log2 maximum minimum mod multiply nan_to_num negative power rad2deg
    radians reciprocal rint round sign sin sinh sqrt square subtract tan tanh true_divide trunc""".split()
)

# Random draws, and the argument that says how many: without it they give one number.
DRAWS: Final = {
    f"numpy.random.{name}": size
    for size, names in {
        0: "rand randn random random_sample standard_normal",
        1: "choice exponential poisson",
        2: "beta gamma integers laplace lognormal normal randint uniform",
    }.items()
    for name in names.split()
}

# What makes an object that draws: its methods are the functions of `numpy.random`.
GENERATORS: Final = frozenset(("numpy.random.RandomState", "numpy.random.Generator", "numpy.random.default_rng"))
