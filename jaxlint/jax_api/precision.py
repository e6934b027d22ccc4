"""Dtypes by width, and what solves or factorises in the precision of its argument.

Measured on jax 0.10.2: with 64-bit mode off a request for a wide dtype gives the narrow one, with a
UserWarning. `float`, `int` and `complex` ask for the default width and give no warning.
"""

from __future__ import annotations

from functools import cache


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What a request for it gives while 64-bit mode is off.
NARROWED: dict[str, str] = {
    "float64": "float32",
    "double": "float32",
    "float_": "float32",
    "int64": "int32",
    "int_": "int32",
    "uint64": "uint32",
    "uint": "uint32",
    "complex128": "complex64",
    "cdouble": "complex64",
    "complex_": "complex64",
}
LOW = _words("bfloat16 float16 half float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz")
FULL = _words("float32 single float64 double float_")
_CODES = {
    "f8": "float64",
    "i8": "int64",
    "u8": "uint64",
    "c16": "complex128",
    "f4": "float32",
    "f2": "float16",
}
_NAMES = frozenset(NARROWED) | LOW | FULL


@cache
def dtype_named(text: str) -> str:
    """The dtype that a library name (`jax.numpy.float64`) or a string (`"f8"`) stands for, "" if it is none."""
    head, _, last = text.rpartition(".")
    if head in ("jax.numpy", "numpy", "ml_dtypes"):
        return last if last in _NAMES else ""
    return "" if head else _CODES.get(text.lstrip("<>=|"), text if text in _NAMES else "")


# Calls whose second positional argument is a dtype; in other calls a bare string may mean something else.
CASTS = _words(
    "array asarray astype full_like zeros_like ones_like empty_like convert_element_type zeros ones empty"
)
TREE_CASTS = _words("optax.tree_utils.tree_cast optax.tree.cast")
# jmp (0.0.4) casts the floats of a tree by a policy, whose text names a dtype for each of three uses.
CAST_POLICY = "jmp.get_policy"
POLICY_CASTS = _words(
    f"{CAST_POLICY}().cast_to_param {CAST_POLICY}().cast_to_compute {CAST_POLICY}().cast_to_output"
)
_POLICY_DTYPES = {
    "f16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "full": "float32",
}


def policy_dtypes(text: str) -> dict[str, str]:
    """ "params=float32,compute=bfloat16" → the dtype of "param", "compute" and "output", as jmp reads it."""
    if "=" not in text:
        return dict.fromkeys(("param", "compute", "output"), _POLICY_DTYPES.get(text, text))
    given = dict(part.strip().split("=", 1) for part in text.split(",") if "=" in part)
    said = {key.strip()[:1]: _POLICY_DTYPES.get(dtype.strip(), dtype.strip()) for key, dtype in given.items()}
    param = said.get("p", "float32")
    compute = said.get("c", param)
    return {"param": param, "compute": compute, "output": said.get("o", compute)}


# Results that are no floats whatever their arguments are.
NOT_FLOAT = _words(
    "argmax argmin argsort nonzero flatnonzero argwhere digitize searchsorted bincount shape ndim size astype "
    "isnan isinf isfinite isclose allclose array_equal all any count_nonzero one_hot top_k sign signbit"
)

_LINEAR_ALGEBRA = {
    "jax.numpy.linalg.": "solve inv lstsq cholesky svd svdvals eigh eigvalsh eig eigvals qr slogdet pinv cond "
    "matrix_rank tensorsolve tensorinv",
    "jax.scipy.linalg.": "solve inv cholesky cho_factor cho_solve svd eigh lu lu_factor lu_solve qr "
    "solve_triangular sqrtm schur expm solve_sylvester",
    "jax.scipy.sparse.linalg.": "cg gmres bicgstab",
    "jax.lax.linalg.": "cholesky eigh lu qr svd triangular_solve eig",
    "lineax.": "linear_solve",
    "jaxopt.linear_solve.": "solve_cg solve_gmres solve_bicgstab solve_lu solve_cholesky solve_inv solve_qr "
    "solve_normal_cg",
}
_SOLVES = {f"{head}{name}" for head, names in _LINEAR_ALGEBRA.items() for name in names.split()} | {
    "jax.scipy.optimize.minimize",
}

# Optimisers that divide by differences of gradients or solve a linear system in each step: the maker's name.
SECOND_ORDER = _words(
    "optax.lbfgs optax.scale_by_lbfgs "
    "jaxopt.LBFGS jaxopt.LBFGSB jaxopt.BFGS jaxopt.GaussNewton jaxopt.LevenbergMarquardt jaxopt.NonlinearCG "
    "jaxopt.ScipyMinimize jaxopt.ScipyLeastSquares jaxopt.ScipyRootFinding jaxopt.Broyden "
    "optimistix.LevenbergMarquardt optimistix.IndirectLevenbergMarquardt optimistix.GaussNewton "
    "optimistix.Dogleg optimistix.BFGS optimistix.LBFGS optimistix.DFP optimistix.NonlinearCG "
    "optimistix.Newton optimistix.Chord"
)
# Methods of such an optimiser that take the values it works on.
_STEPS = _words("init update init_state run")
# Functions that run the optimiser they are given.
TAKES_SOLVER = _words(
    "optimistix.minimise optimistix.least_squares optimistix.root_find optimistix.fixed_point"
)


@cache
def solver(dotted: str) -> str:
    """What a call solves or factorises with ("jax.numpy.linalg.solve", "optax.lbfgs"), "" if it does neither.

    A name of TAKES_SOLVER stands for itself: what it solves with is among its arguments.
    """
    if dotted in _SOLVES or dotted in TAKES_SOLVER:
        return dotted
    maker, _, method = dotted.rpartition("().")
    return maker if method in _STEPS and maker in SECOND_ORDER else ""
