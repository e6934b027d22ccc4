"""The table of solvers against the installed libraries: called eagerly, they hand tracers to the function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jaxlint.jax_api.solvers import SOLVERS

jax = pytest.importorskip("jax")


def _diffrax(name: str, function: Callable[..., Any]) -> None:
    import jax.numpy as jnp

    diffrax = pytest.importorskip("diffrax")
    field: Callable[..., Any] = lambda t, y, args: -y  # noqa: E731 - typed for the calls below
    options: dict[str, Any] = {"saveat": diffrax.SaveAt(t1=True)}
    control = diffrax.VirtualBrownianTree(0.0, 1.0, 0.1, (), jax.random.key(0))
    if name == "ODETerm":
        terms = diffrax.ODETerm(lambda *a: (function(*a), -a[1])[1])
    elif name.endswith("ControlTerm"):
        term = getattr(diffrax, name)(lambda *a: (function(*a), jnp.ones(()))[1], control)
        terms = diffrax.MultiTerm(diffrax.ODETerm(field), term)
    else:
        terms = diffrax.ODETerm(field)
    if name == "Event":
        options["event"] = diffrax.Event(lambda t, y, args, **_: (function(t, y), y < 0.1)[1])
    elif name == "SaveAt":
        options["saveat"] = diffrax.SaveAt(t1=True, fn=lambda t, y, args: (function(t, y), y)[1])
    elif name == "SubSaveAt":
        inner = diffrax.SubSaveAt(t1=True, fn=lambda t, y, args: (function(t, y), y)[1])
        options["saveat"] = diffrax.SaveAt(subs=inner)
    solver = diffrax.Euler()
    diffrax.diffeqsolve(terms, solver, t0=0.0, t1=1.0, dt0=0.1, y0=jnp.asarray(1.0), **options)


def _optimistix(name: str, function: Callable[..., Any]) -> None:
    import jax.numpy as jnp

    optx = pytest.importorskip("optimistix")
    y0 = jnp.asarray(1.0)
    if name == "compat.minimize":
        optx.compat.minimize(lambda x: (function(x), jnp.sum(x**2))[1], jnp.ones(2), method="bfgs")
        return
    solver = {
        "root_find": optx.Newton(1e-3, 1e-3),
        "fixed_point": optx.FixedPointIteration(1e-3, 1e-3),
        "minimise": optx.BFGS(1e-3, 1e-3),
        "least_squares": optx.LevenbergMarquardt(1e-3, 1e-3),
    }[name]
    given = jnp.asarray(2.0)
    getattr(optx, name)(lambda y, args: (function(y, args), 0.5 * y)[1], solver, y0, args=given, throw=False)


def _lineax(name: str, function: Callable[..., Any]) -> None:
    import jax.numpy as jnp

    lx = pytest.importorskip("lineax")
    if name == "FunctionLinearOperator":
        shape = jax.eval_shape(lambda: jnp.ones(2))
        operator = lx.FunctionLinearOperator(lambda x: (function(x), 2 * x)[1], shape)
    else:
        operator = lx.JacobianLinearOperator(lambda x, args: (function(x), 2 * x)[1], jnp.ones(2))
    lx.linear_solve(operator, jnp.ones(2))


def _jaxopt(name: str, function: Callable[..., Any]) -> None:
    import jax.numpy as jnp

    jaxopt = pytest.importorskip("jaxopt")
    import optax

    residual: Callable[..., Any] = lambda x: (function(x), 0.5 * x)[1]  # noqa: E731 - typed for the calls below
    loss: Callable[..., Any] = lambda x: (function(x), jnp.sum(x**2))[1]  # noqa: E731 - typed for the calls below
    x0 = jnp.ones(2)
    if name == "Bisection":
        jaxopt.Bisection(residual, -1.0, 2.0).run()
        return
    word = SOLVERS[f"jaxopt.{name}"][0].keyword
    given = residual if word != "fun" or name == "Broyden" else loss
    options: dict[str, Any] = {word: given, "maxiter": 3}
    if name == "OptaxSolver":
        options["opt"] = optax.sgd(0.1)
    if name == "ProjectedGradient":
        options["projection"] = jaxopt.projection.projection_non_negative
    if name == "MirrorDescent":
        simplex = jaxopt.projection.projection_simplex
        options |= {"projection_grad": lambda x, g, s, _: simplex(x - s * g), "stepsize": 0.1}
    solver = getattr(jaxopt, name)(**options)
    extra: dict[str, Any] = {}
    if name == "LBFGSB":
        extra = {"bounds": (jnp.zeros(2), jnp.ones(2))}
    elif name in ("ProjectedGradient", "MirrorDescent"):
        extra = {"hyperparams_proj": None}
    elif name == "ProximalGradient":
        extra = {"hyperparams_prox": None}
    solver.run(x0, **extra)


_RUNS = {"diffrax": _diffrax, "optimistix": _optimistix, "lineax": _lineax, "jaxopt": _jaxopt}


@pytest.mark.parametrize("dotted", sorted(SOLVERS))
def test_solver_hands_over_tracers(dotted: str) -> None:
    library, _, name = dotted.partition(".")
    seen: list[bool] = []

    def function(*arguments: Any) -> None:
        leaves = jax.tree.leaves(arguments)
        seen.append(bool(leaves) and all(isinstance(leaf, jax.core.Tracer) for leaf in leaves))

    _RUNS[library](name, function)
    assert any(seen)
