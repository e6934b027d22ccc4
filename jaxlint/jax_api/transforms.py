"""Transforms and control flow: what raises the trace level, and which argument they trace.

Levels order how much Python may still see: at EAGER and GRAD values are concrete (measured: `if y > 0`,
`int(y)`, `x[y > 1]` work under plain grad), at VMAP mapped arguments are tracers, at JIT every jnp result is.
"""

from __future__ import annotations

EAGER, GRAD, VMAP, JIT = 0, 1, 2, 3
LEVEL_NAMES = ("eager", "grad", "vmap", "jit")


def _transforms() -> dict[str, tuple[int, str]]:
    table: dict[str, tuple[int, str]] = {}
    for name in ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian", "jacobian"):
        table[f"jax.{name}"] = (GRAD, name)
    for name in ("grad", "value_and_grad", "jacfwd", "jacrev", "hessian"):
        table[f"equinox.filter_{name}"] = (GRAD, name)
    for name in ("grad", "value_and_grad"):
        table[f"flax.nnx.{name}"] = (GRAD, name)
        table[f"flax.linen.{name}"] = (GRAD, name)
        table[f"haiku.{name}"] = (GRAD, name)
    for name in ("jax.vmap", "equinox.filter_vmap", "flax.nnx.vmap", "haiku.vmap"):
        table[name] = (VMAP, "vmap")
    for name in (
        "jax.checkpoint",
        "jax.remat",
        "jax.ad_checkpoint.checkpoint",
        "jax.ad_checkpoint.remat",
        "equinox.filter_checkpoint",
        "flax.nnx.remat",
        "haiku.remat",
        "jax.shard_map",
        "jax.experimental.shard_map.shard_map",
    ):
        table[name] = (JIT, "shard_map" if name.endswith("shard_map") else "checkpoint")
    return table


TRANSFORMS = _transforms()

# Control flow: positions of the traced callables. `lax.switch` takes a sequence of them.
CONTROL_FLOW: dict[str, tuple[int, ...]] = {
    "jax.lax.scan": (0,),
    "jax.lax.map": (0,),
    "jax.lax.while_loop": (0, 1),
    "jax.lax.fori_loop": (2,),
    "jax.lax.cond": (1, 2),
    "jax.lax.switch": (1,),
    "jax.lax.associative_scan": (0,),
    "jax.lax.custom_root": (0, 2, 3),
    "jax.lax.custom_linear_solve": (0, 2, 3),
    "flax.nnx.scan": (0,),
    "flax.nnx.while_loop": (0, 1),
    "flax.nnx.fori_loop": (2,),
    "flax.nnx.cond": (1, 2),
    "flax.nnx.switch": (1,),
    "haiku.scan": (0,),
    "haiku.while_loop": (0, 1),
    "haiku.fori_loop": (2,),
    "haiku.cond": (1, 2),
    "haiku.switch": (1,),
    "haiku.map": (0,),
    "equinox.internal.while_loop": (0, 1),
    "equinox.internal.scan": (0,),
    "jax.lax.reduce": (2,),
    "jax.experimental.ode.odeint": (0,),
    "jax.scipy.optimize.minimize": (0,),
    "jax.scipy.sparse.linalg.cg": (0,),
    "jax.scipy.sparse.linalg.gmres": (0,),
    "jax.scipy.sparse.linalg.bicgstab": (0,),
}

# What these compile when they run outside jit, counted on jax 0.10.2 (and, for those of `jax`, 0.6.2 and
# 0.4.35): once for each body object they are given...
COMPILED_PER_BODY: frozenset[str] = frozenset(
    {
        "jax.lax.scan",
        "jax.lax.while_loop",
        "jax.lax.fori_loop",
        "jax.lax.cond",
        "jax.lax.switch",
        "jax.lax.reduce",
        "jax.experimental.ode.odeint",
    }
)
# ... or in every call, because they wrap the body in a new function themselves. `associative_scan`,
# `custom_root` and `custom_linear_solve` run operation by operation and compile nothing as a whole.
COMPILED_ALWAYS: frozenset[str] = frozenset(
    {
        "jax.lax.map",
        "flax.nnx.scan",
        "flax.nnx.cond",
        "flax.nnx.switch",
        "flax.nnx.while_loop",
        "flax.nnx.fori_loop",
        "equinox.internal.while_loop",
        "equinox.internal.scan",
        "jax.scipy.optimize.minimize",
        "jax.scipy.sparse.linalg.cg",
        "jax.scipy.sparse.linalg.gmres",
        "jax.scipy.sparse.linalg.bicgstab",
    }
)
# A mapped predicate makes a select of these.
UNROLLED_BY_VMAP: frozenset[str] = frozenset({"jax.lax.cond", "jax.lax.switch"})

# Derivatives whose eager call compiles the control flow in their function anew, every time.
_REVERSED = frozenset(
    {"jax.lax.scan", "jax.lax.fori_loop", "jax.lax.cond", "jax.lax.switch", "jax.lax.map", "flax.nnx.scan"}
)
_PUSHED = frozenset({"jax.lax.scan", "jax.lax.fori_loop", "jax.lax.while_loop", "jax.lax.map"})
REVERSE_MODE: dict[str, frozenset[str]] = dict.fromkeys(
    ("grad", "value_and_grad", "vjp", "filter_vjp", "jacrev", "jacobian", "hessian"), _REVERSED
)
FORWARD_MODE: dict[str, frozenset[str]] = dict.fromkeys(("jvp", "filter_jvp", "jacfwd"), _PUSHED)

CALLABLE_KEYWORDS: frozenset[str] = frozenset(
    {
        *("f", "fn", "fun", "func", "body", "body_fun", "body_fn", "cond_fun"),
        *("true_fun", "false_fun", "branches", "computation", "A"),
        *("solve", "tangent_solve", "matvec", "transpose_solve"),
    }
)

# Other calls that trace the callable they are given: name → level.
TRACERS: dict[str, int] = {
    "jax.eval_shape": JIT,
    "equinox.filter_eval_shape": JIT,
    "jax.make_jaxpr": JIT,
    "equinox.filter_make_jaxpr": JIT,
    "jax.linearize": JIT,
    "jax.jvp": GRAD,
    "jax.vjp": GRAD,
    "equinox.filter_jvp": GRAD,
    "equinox.filter_vjp": GRAD,
}

# Give (outputs, state) in a trace; the core that they run is an object of the library.
UNROLLING = frozenset({"haiku.dynamic_unroll", "haiku.static_unroll"})
