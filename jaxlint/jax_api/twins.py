"""Functions of numpy and math that `jax.numpy` has too, for the same call (jax 0.10.2, numpy 2.4)."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names below `numpy` that raise on a tracer and whose namesake below `jax.numpy` takes the same arguments.
# Left out: functions whose shape depends on values, or that make arrays from sizes alone (a traced size would
# raise there too), and those that write into an argument.
NUMPY_TWINS = _words(
    "abs absolute acos acosh add allclose angle append arccos arccosh arcsin arcsinh arctan arctan2 "
    "arctanh argpartition array asarray asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d "
    "average bitwise_and bitwise_count bitwise_invert bitwise_not bitwise_or bitwise_xor block "
    "broadcast_arrays broadcast_to cbrt ceil clip column_stack concat concatenate conj conjugate convolve "
    "copysign corrcoef correlate cos cosh count_nonzero cov cross cumulative_prod cumulative_sum deg2rad "
    "degrees diag diagflat diff digitize divide divmod dot dstack ediff1d einsum empty_like equal exp "
    "exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod full full_like gcd gradient greater "
    "greater_equal heaviside hstack hypot i0 inner interp invert isclose iscomplex isfinite isin isinf "
    "isnan isneginf isposinf kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p "
    "log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul "
    "matrix_transpose maximum median meshgrid minimum mod multiply nan_to_num nanargmax nanargmin "
    "nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum "
    "nanvar negative nextafter not_equal ones_like outer pad partition percentile polyval positive pow "
    "power quantile rad2deg radians ravel reciprocal remainder right_shift rint roll select sign signbit "
    "sin sinc sinh sort sqrt square stack subtract take tan tanh tensordot trapezoid tril triu "
    "true_divide trunc unwrap vander vdot vstack where zeros_like fft.fft fft.fft2 fft.fftn fft.fftshift "
    "fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn "
    "fft.rfft fft.rfft2 fft.rfftn linalg.cholesky linalg.cond linalg.cross linalg.det linalg.eigh "
    "linalg.eigvalsh linalg.inv linalg.matmul linalg.matrix_norm linalg.matrix_power linalg.matrix_rank "
    "linalg.matrix_transpose linalg.norm linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve "
    "linalg.svd linalg.svdvals linalg.tensordot linalg.vector_norm"
)

# Those of them that take a list or tuple of arrays; the others of `jax.numpy` refuse one.
TAKES_SEQUENCE = _words(
    "array asarray block broadcast_to column_stack concat concatenate dstack einsum full hstack select "
    "stack vstack"
)

# Keywords that mean the same on both sides; `out`, `where`, `casting`, `order`, `subok` have no counterpart.
SHARED_KEYWORDS = _words(
    "arrays axes axis axisa axisb axisc b bins constant_values ddof fill_value full_matrices indexing k "
    "keepdims left mode n nan neginf norm num object ord posinf q right rowvar rtol shape start stop tup "
    "v values weights"
)

# Functions that take `dtype` too: the others are ufuncs or compute in the dtype of their argument.
TAKES_DTYPE = _words(
    "array asarray concatenate empty_like full full_like linspace ones_like stack zeros_like"
)

# Names of `math` that are in `jax.numpy`.
MATH_TWINS = _words(
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees exp expm1 fabs floor fmod "
    "hypot isclose isfinite isinf isnan log log10 log1p log2 pow radians sin sinh sqrt tan tanh trunc"
)
