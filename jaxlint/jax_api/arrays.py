"""Array functions by what matters under a trace. Measured on jax 0.4.35, 0.6.2 and 0.10.2."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# jnp functions whose result is static under a trace.
STATIC_JNP = _words(
    "shape ndim size dtype issubdtype result_type isscalar iscomplexobj isrealobj promote_types finfo "
    "iinfo can_cast broadcast_shapes printoptions"
)

DTYPES = _words(
    "float32 float64 float16 bfloat16 int32 int64 int16 int8 int4 uint8 uint16 uint32 uint64 uint4 bool_ "
    "complex64 complex128 float_ int_ uint float8_e4m3fn float8_e5m2 single double half longdouble"
)

# Names under jnp/np that are types or objects, not array functions.
TYPES = _words("ndarray dtype generic integer floating inexact number signedinteger object_ str_ character")

# numpy functions that do not raise on a tracer: static ones, and those that dispatch to a method.
NUMPY_SILENT = _words(
    "sum mean max min amax amin argmax argmin prod cumsum cumprod argsort std var all any round around "
    "reshape transpose squeeze repeat swapaxes moveaxis rollaxis flip fliplr flipud split array_split "
    "hsplit vsplit shape ndim size result_type iscomplexobj isrealobj isscalar dtype issubdtype can_cast "
    "finfo iinfo iterable broadcast_shapes rot90 expand_dims ptp compress diagonal trace nonzero choose "
    "searchsorted printoptions errstate set_printoptions promote_types ix_ common_type min_scalar_type "
    "ndindex alltrue sometrue product get_printoptions may_share_memory shares_memory seterr vectorize "
    "frompyfunc"
)

# numpy functions that answer False for any tracer, without an error.
NUMPY_FALSE = _words("array_equal array_equiv")

# Functions that need a concrete value to know their shape, and the keyword that makes it static.
DATA_SHAPED = _words(
    "nonzero flatnonzero argwhere unique extract compress setdiff1d intersect1d union1d setxor1d "
    "trim_zeros unique_values unique_counts unique_inverse unique_all roots"
)
SIZE_KEYWORDS = _words("size length total_repeat_length")

# Functions and methods that give booleans whatever they are given, and the dtype by its names.
BOOLEAN = _words(
    "any all bool_ isnan isinf isfinite logical_and logical_or logical_not logical_xor greater less "
    "greater_equal less_equal equal not_equal isclose isin in1d signbit isneginf isposinf iscomplex isreal"
)
BOOLEAN_METHODS = _words("any all")
BOOLEAN_DTYPES = _words("builtins.bool numpy.bool_ numpy.bool jax.numpy.bool_ jax.numpy.bool bool bool_ ?")

# Functions and methods whose result has the dtype of what they are given (measured for booleans).
MOVING = _words(
    "array asarray ascontiguousarray asanyarray device_put copy full where zeros_like ones_like empty_like roll "
    "flip fliplr flipud rot90 reshape ravel flatten squeeze expand_dims transpose swapaxes moveaxis broadcast_to "
    "tile repeat take take_along_axis concatenate stack vstack hstack column_stack concat append pad tril triu "
    "diag diagonal atleast_1d atleast_2d atleast_3d sort permutation invert bitwise_not select_n stop_gradient "
    "block_until_ready set get"
)
# The position of the dtype among the arguments of what makes or casts arrays.
_DTYPE_AT = {
    1: "array asarray asanyarray ascontiguousarray zeros ones empty zeros_like ones_like empty_like fromiter "
    "convert_element_type frombuffer fromstring loadtxt genfromtxt",
    2: "full full_like",
    3: "eye identity",
}
TAKES_DTYPE: dict[str, int] = {
    name: position for position, names in _DTYPE_AT.items() for name in names.split()
}

GROWING = _words("concatenate append vstack hstack stack column_stack concat row_stack dstack")

REDUCTIONS = _words(
    "sum mean max min std var prod any all argmax argmin amax amin median nanmean nansum nanmax nanmin "
    "logsumexp average quantile percentile"
)

# Functions whose result has the shape of what they are given: of numbers, one number.
ELEMENTWISE = _words(
    "abs absolute add asarray array cbrt ceil clip cos divide exp exp2 expm1 floor isfinite isinf isnan log "
    "log10 log1p log2 logaddexp logical_and logical_not logical_or maximum minimum multiply nan_to_num "
    "negative power pow reciprocal round rsqrt select sigmoid sign sin sqrt square stop_gradient subtract "
    "pmean psum pmax pmin tanh where"
)
# Functions that may give more elements than their first argument has.
WIDENING = _words(
    "outer kron repeat tile broadcast_to broadcast_arrays meshgrid matmul dot einsum tensordot inner pad vander "
    "diag diagflat convolve correlate one_hot cross vmap map_coordinates resize take gather"
)
# Functions that give one number of an array or a tree, unless an axis is named.
ONE_NUMBER = _words("norm vdot global_norm count_nonzero")

# Functions whose result has a shape of its own, whatever the length of their argument.
OWN_SHAPE = _words(
    "cov corrcoef histogram histogram2d histogramdd histogram_bin_edges polyfit interp vdot trace norm det "
    "slogdet count_nonzero searchsorted einsum tensordot inner dot matmul lstsq bincount"
)

# Makers whose result has a dtype of its own although none is named; `full` of a number has not.
STRONG_MAKERS = _words(
    "zeros ones empty eye identity linspace logspace geomspace arange tri indices hanning hamming"
)

ARRAY_METHODS = _words(
    "sum mean max min std var prod any all argmax argmin astype reshape ravel flatten transpose squeeze "
    "dot cumsum cumprod round clip swapaxes repeat conj conjugate copy argsort sort trace diagonal take "
    "view ptp block_until_ready searchsorted"
)

# Methods with which a numpy array makes arrays of its arguments: TracerArrayConversionError (measured).
HOST_METHODS = _words("take dot searchsorted repeat choose compress clip put partition argpartition")

STATIC_ATTRIBUTES = _words("shape ndim dtype size aval itemsize weak_type sharding nbytes")
ARRAY_ATTRIBUTES = _words("T mT real imag flat")
INDEXER_METHODS = _words("set add multiply divide power min max apply get mul subtract")

# Array makers: name → position of the shape argument.
MAKERS: dict[str, int] = {
    "zeros": 0,
    "ones": 0,
    "empty": 0,
    "full": 0,
    "eye": 0,
    "identity": 0,
    "normal": 1,
    "uniform": 1,
    "bernoulli": 2,
    "randint": 1,
    "truncated_normal": 3,
    "gumbel": 1,
    "exponential": 1,
    "laplace": 1,
    "cauchy": 1,
    "rademacher": 1,
}

# Positions and keywords that must be static sizes: function → (positions, keywords).
SIZED: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "zeros": ((0,), ("shape",)),
    "ones": ((0,), ("shape",)),
    "empty": ((0,), ("shape",)),
    "full": ((0,), ("shape",)),
    "eye": ((0, 1), ("N", "M")),
    "identity": ((0,), ("n",)),
    "tri": ((0, 1), ("N", "M")),
    "arange": ((0, 1, 2), ("start", "stop", "step")),
    "linspace": ((2,), ("num",)),
    "logspace": ((2,), ("num",)),
    "geomspace": ((2,), ("num",)),
    "broadcast_to": ((1,), ("shape",)),
    "reshape": ((1,), ("shape", "newshape")),
    "resize": ((1,), ("new_shape",)),
    "tile": ((1,), ("reps",)),
    "pad": ((1,), ("pad_width",)),
    "split": ((1,), ("indices_or_sections",)),
    "array_split": ((1,), ("indices_or_sections",)),
    "hsplit": ((1,), ("indices_or_sections",)),
    "vsplit": ((1,), ("indices_or_sections",)),
    "rot90": ((1,), ("k",)),
    "expand_dims": ((1,), ("axis",)),
    "hanning": ((0,), ("M",)),
    "hamming": ((0,), ("M",)),
    "blackman": ((0,), ("M",)),
    "tril_indices": ((0,), ("n",)),
    "triu_indices": ((0,), ("n",)),
    "diag_indices": ((0,), ("n",)),
    "indices": ((0,), ("dimensions",)),
}
SIZED_LAX: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "jax.lax.top_k": ((1,), ("k",)),
    "jax.lax.dynamic_slice": ((2,), ("slice_sizes",)),
    "jax.lax.dynamic_slice_in_dim": ((2,), ("slice_size",)),
    "jax.lax.slice": ((1, 2), ("start_indices", "limit_indices")),
    "jax.lax.slice_in_dim": ((1, 2), ("start_index", "limit_index")),
    "jax.lax.iota": ((1,), ("size",)),
    "jax.lax.broadcast": ((1,), ("sizes",)),
    "jax.lax.broadcast_in_dim": ((1,), ("shape",)),
    "jax.lax.reshape": ((1,), ("new_sizes",)),
    "jax.lax.scan": ((3,), ("length",)),
    "jax.nn.one_hot": ((1,), ("num_classes",)),
    "jax.random.split": ((1,), ("num",)),
    "jax.random.normal": ((1,), ("shape",)),
    "jax.random.uniform": ((1,), ("shape",)),
    "jax.random.bernoulli": ((2,), ("shape",)),
    "jax.random.randint": ((1,), ("shape",)),
    "jax.random.choice": ((2,), ("shape",)),
    "jax.random.categorical": ((), ("shape",)),
    "jax.random.gumbel": ((1,), ("shape",)),
    "jax.random.exponential": ((1,), ("shape",)),
    "jax.random.truncated_normal": ((3,), ("shape",)),
    "jax.ops.segment_sum": ((2,), ("num_segments",)),
    "jax.ops.segment_max": ((2,), ("num_segments",)),
    "jax.ops.segment_min": ((2,), ("num_segments",)),
    "jax.ops.segment_prod": ((2,), ("num_segments",)),
    "jax.image.resize": ((1,), ("shape",)),
}

RNG_SPLITTERS = _words("split clone")

# Each element of the result depends on the elements at its place alone.
MEMBER_BY_MEMBER = _words(
    "abs absolute add arccos arcsin arctan arctan2 celu ceil clip conj cos cosh divide elu equal exp exp2 "
    "expm1 floor gelu greater greater_equal hypot imag isfinite isinf isnan leaky_relu less less_equal log "
    "log10 log1p log2 log_sigmoid logaddexp logical_and logical_not logical_or maximum minimum mod multiply "
    "nan_to_num negative not_equal power real reciprocal relu relu6 rint round sigmoid sign silu sin sinh "
    "soft_sign softplus sqrt square subtract swish tan tanh true_divide where xlogy"
)
