"""The transfer functions: what each kind of syntax and each library call does to abstract values.

Their modules register them with `frame` when they are imported, and this one imports them all.
"""

from __future__ import annotations

from jaxlint.flow.boundaries import boundary, clearing
from jaxlint.flow.calls import (
    builtin_calls,
    builtin_collections,
    builtin_numbers,
    control,
    conversion_calls,
    jax_array_calls,
    numpy_calls,
    optimizers,
    sources,
    transforms,
    tree_calls,
    wrappers,
)
from jaxlint.flow.config import processes
from jaxlint.flow.device_memory import replication
from jaxlint.flow.expressions import (
    arithmetic,
    call_expressions,
    comparisons,
    comprehensions,
    conditions,
    displays,
    name_lookup,
    simple_expressions,
    subscripts,
    yields,
)
from jaxlint.flow.host_memory import cached_functions
from jaxlint.flow.retrace import grouping, new_statics
from jaxlint.flow.statements import (
    branching,
    class_definitions,
    function_definitions,
    import_statements,
    loops,
    simple_statements,
    try_statements,
    with_statements,
)

__all__ = [
    "arithmetic",
    "boundary",
    "branching",
    "builtin_calls",
    "builtin_collections",
    "builtin_numbers",
    "cached_functions",
    "call_expressions",
    "class_definitions",
    "clearing",
    "comparisons",
    "comprehensions",
    "conditions",
    "control",
    "conversion_calls",
    "displays",
    "function_definitions",
    "grouping",
    "import_statements",
    "jax_array_calls",
    "loops",
    "name_lookup",
    "new_statics",
    "numpy_calls",
    "optimizers",
    "processes",
    "replication",
    "simple_expressions",
    "simple_statements",
    "sources",
    "subscripts",
    "transforms",
    "tree_calls",
    "try_statements",
    "with_statements",
    "wrappers",
    "yields",
]
