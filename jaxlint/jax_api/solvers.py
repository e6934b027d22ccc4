"""Solvers of other libraries that trace a function they are given, and what they call it with.

Diffrax, Optimistix and Lineax jit their entry points and call the function inside a while loop or a linearisation;
JAXopt's solvers jit their update unless `jit=False`. Measured on diffrax 0.7.2, optimistix 0.1.0, lineax 0.1.1,
jaxopt 0.8.5 and jax 0.10.2: a Python branch on the traced arguments raises, called eagerly or not.
"""

from __future__ import annotations

from typing import NamedTuple

# What an argument of the function is: one array, an array or a tree of arrays, or anything.
ARRAY, TREE, ANY = "array", "tree", "any"


class Argument(NamedTuple):
    """An argument of the function that has the structure of one that the solver is given."""

    position: int
    keyword: str
    filtered: bool = False  # what is no array stays as it is


class Handed(NamedTuple):
    """A function that is handed over, and the arguments that it gets."""

    position: int
    keyword: str
    gets: tuple[str | Argument, ...]


_FIELD = (ARRAY, TREE, ANY)  # time, state, args
_KEYWORD_ONLY = 99


def _optimistix(name: str) -> tuple[Handed, ...]:
    return (Handed(0, name, (Argument(2, "y0"), Argument(3, "args", filtered=True))),)


SOLVERS: dict[str, tuple[Handed, ...]] = {
    "diffrax.ODETerm": (Handed(0, "vector_field", _FIELD),),
    "diffrax.ControlTerm": (Handed(0, "vector_field", _FIELD),),
    "diffrax.WeaklyDiagonalControlTerm": (Handed(0, "vector_field", _FIELD),),
    "diffrax.Event": (Handed(0, "cond_fn", _FIELD),),
    "diffrax.SaveAt": (Handed(_KEYWORD_ONLY, "fn", _FIELD),),
    "diffrax.SubSaveAt": (Handed(_KEYWORD_ONLY, "fn", _FIELD),),
    "optimistix.root_find": _optimistix("fn"),
    "optimistix.fixed_point": _optimistix("fn"),
    "optimistix.minimise": _optimistix("fn"),
    "optimistix.least_squares": _optimistix("fn"),
    "optimistix.compat.minimize": (Handed(0, "fun", (Argument(1, "x0"),)),),
    "lineax.FunctionLinearOperator": (Handed(0, "fn", (TREE,)),),
    "lineax.JacobianLinearOperator": (
        Handed(0, "fn", (Argument(1, "x"), Argument(2, "args", filtered=True))),
    ),
    **{
        f"jaxopt.{name}": (Handed(0, "fun", (TREE,)),)
        for name in (
            *(
                "GradientDescent",
                "LBFGS",
                "LBFGSB",
                "BFGS",
                "NonlinearCG",
                "ProximalGradient",
                "ProjectedGradient",
            ),
            *("PolyakSGD", "ArmijoSGD", "MirrorDescent", "Broyden"),
        )
    },
    "jaxopt.OptaxSolver": (Handed(1, "fun", (TREE,)),),
    "jaxopt.GaussNewton": (Handed(0, "residual_fun", (TREE,)),),
    "jaxopt.LevenbergMarquardt": (Handed(0, "residual_fun", (TREE,)),),
    "jaxopt.FixedPointIteration": (Handed(0, "fixed_point_fun", (TREE,)),),
    "jaxopt.AndersonAcceleration": (Handed(0, "fixed_point_fun", (TREE,)),),
    "jaxopt.Bisection": (Handed(0, "optimality_fun", (ARRAY,)),),
}

# Call a function on the host, with numpy arrays, and are done with it when they return: SciPy (1.17), NumPy (2.4)
# and solvers without derivatives.
ON_HOST = (
    *("scipy.optimize.", "scipy.integrate.", "scipy.ndimage.generic_filter", "scipy.stats.bootstrap"),
    *("numpy.apply_along_axis", "numpy.apply_over_axes", "cma.fmin", "cma.fmin2"),
    *("pybobyqa.solve", "dfols.solve", "cobyqa.minimize", "prima.minimize"),
)
