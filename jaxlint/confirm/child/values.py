"""What a line works on while jax traces: which transformations are at work, and which values have no value there.

Under `grad` alone a tracer carries its value, and Python may look at it; under `jit` and `vmap` it carries none.
"""

from __future__ import annotations

import contextlib
import dis
import sys
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

_TRANSFORMATIONS = {
    "DynamicJaxprTrace": "jit",
    "BatchTrace": "vmap",
    "JVPTrace": "grad",
    "LinearizeTrace": "grad",
    "JaxprTrace": "grad",
}
_NO_VALUES = (ModuleType, FunctionType, BuiltinFunctionType, type)


def transformations() -> list[str]:
    """The transformations in progress, innermost first: "jit" (of control flow too), "vmap", "grad".

    Private to jax, from 0.4.36 on; [] where it cannot be told.
    """
    context = getattr(sys.modules.get("jax._src.core"), "trace_ctx", None)
    trace = getattr(context, "trace", None)
    found: list[str] = []
    while trace is not None and len(found) < 100:
        name = _TRANSFORMATIONS.get(type(trace).__name__)
        if name is not None:
            found.append(name)
        trace = getattr(trace, "parent_trace", None)
    return found


def read(frame: FrameType, first: int, last: int) -> dict[str, bool]:
    """What some lines of a frame read by name, modules and functions left out, and whether it is a tracer without
    a value."""
    variables = frame.f_locals
    found = {}
    for name in _names(frame.f_code, first, last):
        value = variables[name] if name in variables else frame.f_globals.get(name, _NO_VALUES)
        if value is not _NO_VALUES and not isinstance(value, _NO_VALUES):
            found[name] = is_valueless(value)
    return found


def is_valueless(value: Any) -> bool:
    """Whether a value is a tracer that Python cannot look into."""
    core: Any = sys.modules.get("jax._src.core")
    tracer = getattr(core, "Tracer", None)
    if tracer is None or not isinstance(value, tracer):
        return False
    with contextlib.suppress(Exception):
        return not core.is_concrete(value)
    concrete = getattr(core, "ConcreteArray", None)  # before 0.4.36
    return concrete is None or not isinstance(value.aval, concrete)


def _names(code: CodeType, first: int, last: int) -> tuple[str, ...]:
    """The names that the instructions of some lines load, among names of attributes."""
    found: dict[str, None] = {}
    line = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        positions: Any = getattr(instruction, "positions", None)  # from Python 3.11 on
        line = (positions.lineno if positions is not None else instruction.starts_line) or line
        if first <= line <= last and "LOAD" in instruction.opname:
            loaded = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            found.update(dict.fromkeys(name for name in loaded if isinstance(name, str)))
    return tuple(found)
