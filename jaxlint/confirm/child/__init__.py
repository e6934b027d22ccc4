"""What runs in the user's interpreter. Standard library and the user's jax only; Python 3.10 and newer.

Nothing here imports jaxlint: the user's environment need not have it. Modules import each other relatively,
because at run time the package has another name (see `__main__`).
"""
