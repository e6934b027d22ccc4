"""Traced code that asks a clock, a generator, the environment or a file: the trace keeps the answer."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.boundary_state import Read
from jaxlint.flow.domain.kinds import CONSTANT
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import ImpureCall
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.retrace.mutation import environment_key
from jaxlint.flow.trace.outer import where_kept
from jaxlint.index.walking import walk
from jaxlint.jax_api.impure import GENERATORS, RANDOM, impurity
from jaxlint.jax_api.transforms import JIT, VMAP

_RUN_ONCE = frozenset({"__init__", "__new__", "__post_init__", "setup"})


def _note(frame: Frame, node: ast.AST, api: str, reads: str, name: str = "") -> None:
    if frame.quiet or not hasattr(node, "lineno") or _once_on_purpose(frame):
        return
    if frame.level >= JIT or (frame.level >= VMAP and reads == RANDOM):
        frame.record(
            ImpureCall(frame.place(node), frame.symbol, frame.proof(), api=api, reads=reads, name=name)
        )


def _once_on_purpose(frame: Frame) -> bool:
    """A constructor, or a function whose result is kept: nobody expects a second answer."""
    functions = (evaluation.function for evaluation in frame.run.stack if evaluation.level)
    return any(f is not None and (f.cached or f.name in _RUN_ONCE) for f in functions)


def library_call(frame: Frame, dotted: str, call: Call) -> None:
    """A call of a library name in traced code."""
    if dotted in GENERATORS:
        if not call.values() and not call.starred:
            _note(frame, call.node, dotted, RANDOM)
        return
    reads = impurity(dotted)
    if reads == "environment":
        first = call.argument(0, "key")
        variable(frame, call.node, first.data if first is not None and first.kind == CONSTANT else None)
    if not reads or (dotted in _NOW_UNLESS_GIVEN and len(call.positional) > _NOW_UNLESS_GIVEN[dotted]):
        return
    if reads == RANDOM and _seeds(frame):
        return
    subject = call.positional[0] if call.positional else None
    name = str(subject.data) if subject is not None and subject.kind == CONSTANT else ""
    _note(frame, call.node, dotted, reads, name)


# Clocks that only format a time when they are given one: how many arguments may come before it.
_NOW_UNLESS_GIVEN = {"time.localtime": 0, "time.gmtime": 0, "time.ctime": 0, "time.strftime": 1}


def _seeds(frame: Frame) -> bool:
    """The function sets the seed itself: it draws the same whenever it is traced."""
    function = frame.function
    return function is not None and any(
        isinstance(n, ast.Call)
        and isinstance(n.func, ast.Attribute)
        and n.func.attr in ("seed", "manual_seed")
        for n in walk(function.node)
    )


def file_method(frame: Frame, node: ast.Call, name: str) -> None:
    """`path.read_text()`."""
    _note(frame, node, name, "file")


def environment(frame: Frame, node: ast.AST, owner: Value, key: Value) -> None:
    """`os.environ[key]`, `key in os.environ`."""
    if owner.data == "os.environ":
        variable(frame, node, key.data if key.kind == CONSTANT else None)
        _note(
            frame,
            node,
            owner.data,
            "environment",
            key.data if key.kind == CONSTANT and isinstance(key.data, str) else "",
        )


def variable(frame: Frame, node: ast.AST, name: object) -> None:
    """An environment variable is read: a change of it does not reach the trace."""
    if frame.reads is not None and isinstance(name, str):
        frame.reads.setdefault(environment_key(name), Read(frame.module, node, "environment"))


def next_of(frame: Frame, call: Call) -> None:
    """`next(it)` of an iterator that was there before the trace."""
    node = call.argument_node(0)
    if node is not None and where_kept(frame, node):
        _note(frame, call.node, "builtins.next", "iterator")
