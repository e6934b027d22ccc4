"""Functions and methods by what they make of the shapes of their arguments (jax 0.10.2, numpy 2.4)."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# As wide as their arguments are together.
ELEMENTWISE = _words(
    "abs absolute exp expm1 log log1p log2 log10 sqrt square cbrt sin cos tan tanh sinh cosh arcsin arccos arctan "
    "sign floor ceil round rint negative reciprocal conj real imag isnan isfinite isinf nan_to_num clip maximum "
    "minimum add subtract multiply divide true_divide floor_divide mod power float_power arctan2 hypot logical_and "
    "logical_or logical_not logaddexp greater less equal not_equal greater_equal less_equal stop_gradient relu "
    "relu6 gelu silu swish elu selu celu leaky_relu sigmoid log_sigmoid softplus soft_sign hard_tanh erf rsqrt"
)
# As their first argument is.
SAME = _words(
    "softmax log_softmax flip roll triu tril zeros_like ones_like full_like empty_like standardize copy "
    "ascontiguousarray"
)
SAME_METHODS = _words("astype copy clip round conj block_until_ready")
REDUCTIONS = _words(
    "sum mean max min prod std var any all argmax argmin amax amin median nanmean nansum nanmax nanmin logsumexp "
    "count_nonzero"
)
# The position of the shape.
MAKERS = {"zeros": 0, "ones": 0, "empty": 0, "full": 0}
DRAWERS = {
    "normal": 1,
    "uniform": 1,
    "gumbel": 1,
    "exponential": 1,
    "laplace": 1,
    "logistic": 1,
    "cauchy": 1,
    "rademacher": 1,
    "randint": 1,
    "bernoulli": 2,
    "gamma": 2,
    "beta": 3,
    "poisson": 2,
    "truncated_normal": 3,
}  # jax.random
DRAWS = dict.fromkeys(("uniform", "normal", "integers", "randint"), 2)  # numpy's generators
DRAWS.update(dict.fromkeys(("random", "standard_normal", "random_sample"), 0))
DRAWS.update(dict.fromkeys(("poisson", "exponential"), 1))
