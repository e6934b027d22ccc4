"""What kind of thing a value is, and kinds that are asked for together."""

from __future__ import annotations

from jaxlint.flow.facts import Kind

# Kinds are plain integers: the analysis compares them millions of times.
(
    UNKNOWN,
    CONSTANT,  # data: the Python value
    SCALAR,  # a Python number
    SHAPE,  # static under a trace
    HOST,
    DEVICE,
    TRACED,
    PARAMETER,  # of traced code: perhaps a tree, perhaps None
    FUNCTION,  # data: closures.Closure
    BOUNDARY,  # data: boundary_state.BoundaryState
    TREE,  # data: list of values, dict of key → value, or None; element: what any member may be
    INSTANCE,  # data: objects.Instance
    CLASS,  # data: classes.ClassInfo
    API,  # data: canonical dotted name
    MODULE,  # data: LoadedModule
    DTYPE,
    INDEXER,  # x.at; data: the array
    PARTIAL,  # data: closures.PartialApi
    FOREIGN,  # an object a known library made; data: objects.Foreign
    LAZY,  # an import of the project not looked at yet; data: (dotted name, importing module's entry)
    ONE_OF,  # one of several callables or objects; data: list of values
) = range(21)

FACT_KINDS: dict[int, Kind] = {
    UNKNOWN: Kind.UNKNOWN,
    CONSTANT: Kind.CONSTANT,
    SCALAR: Kind.SCALAR,
    SHAPE: Kind.SHAPE,
    HOST: Kind.HOST,
    DEVICE: Kind.DEVICE,
    TRACED: Kind.TRACED,
    PARAMETER: Kind.TRACED_PARAMETER,
    FUNCTION: Kind.FUNCTION,
    BOUNDARY: Kind.BOUNDARY,
    TREE: Kind.TREE,
    INSTANCE: Kind.INSTANCE,
    CLASS: Kind.CLASS,
    API: Kind.API,
    MODULE: Kind.MODULE,
    DTYPE: Kind.DTYPE,
    INDEXER: Kind.OTHER,
    PARTIAL: Kind.FUNCTION,
    FOREIGN: Kind.OTHER,
    LAZY: Kind.UNKNOWN,
    ONE_OF: Kind.FUNCTION,
}

ARRAYS = frozenset((HOST, DEVICE, TRACED, PARAMETER))
CONCRETE = frozenset((HOST, DEVICE))
TRACERS = frozenset((TRACED, PARAMETER))
NUMBERS = frozenset((CONSTANT, SCALAR))
