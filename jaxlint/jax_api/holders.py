"""Objects of libraries that keep the functions which they are given, as they are: a leaf or a field that a boundary
of Equinox compares by identity. Measured on equinox 0.13.8, diffrax 0.7.2 and lineax 0.1.1, jax 0.10.2: each made
with a new lambda compiles a `filter_jit` function again, and with a function of the module does not.
"""

from __future__ import annotations

_KEYWORD_ONLY = 99
EVERY = "*"  # any number of positional arguments

# By name: the position and the keyword of each parameter that is kept.
HOLDERS: dict[str, tuple[tuple[int, str], ...]] = {
    "diffrax.ODETerm": ((0, "vector_field"),),
    "diffrax.ControlTerm": ((0, "vector_field"),),
    "diffrax.MultiTerm": ((0, EVERY),),
    "diffrax.Event": ((0, "cond_fn"),),
    "diffrax.SaveAt": ((_KEYWORD_ONLY, "fn"), (_KEYWORD_ONLY, "subs")),
    "diffrax.SubSaveAt": ((_KEYWORD_ONLY, "fn"),),
    "diffrax.PIDController": ((_KEYWORD_ONLY, "norm"),),
    "equinox.nn.Lambda": ((0, "fn"),),
    "equinox.nn.Sequential": ((0, "layers"),),
    "equinox.nn.MLP": ((4, "activation"), (5, "final_activation")),
    "lineax.FunctionLinearOperator": ((0, "fn"),),
    "lineax.JacobianLinearOperator": ((0, "fn"),),
}
