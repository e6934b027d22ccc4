"""numpy buffers that jax was given without a copy, and that are written afterwards.

On a CPU the jax array and the buffer may share memory for as long as both live; elsewhere the transfer may
still be reading. A loan lives in the environment under the name with `~` before and `=` after it, so that it
takes part in branches and loops as values do; a write of something older than the function under `~name!`.
"""

from __future__ import annotations

import ast

from jaxlint.flow.buffers import may_share
from jaxlint.flow.facts import HostBufferMutated
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.objects import Closure, Function
from jaxlint.flow.operand import dotted_name
from jaxlint.flow.values import API, FUNCTION, HOST, TREE, UNKNOWN, Value
from jaxlint.flow.walking import nodes_of
from jaxlint.jax_api.buffers import WAITING, WAITING_METHODS, WRITING_FIRST, WRITING_METHODS
from jaxlint.jax_api.transforms import EAGER

_KEEPING = frozenset({"append", "appendleft", "add", "insert", "extend", "put", "put_nowait", "setdefault"})
_RUN_ONCE = frozenset({"__init__", "__post_init__", "setup", "setUp", "main"})


TRANSFERS = frozenset({"jax.device_put", "jax.numpy.asarray"})


class Loan:
    """A buffer handed to jax. `kept`: what jax made of it is stored, returned or yielded."""

    __slots__ = ("api", "donating", "kept", "name", "node")

    def __init__(self, node: ast.Call, api: str, name: str, kept: bool) -> None:
        self.node = node
        self.api = api
        self.name = name
        self.kept = kept
        self.donating = False  # what a join of watches asks, see flow.values


def lend(frame: Frame, api: str, call: Call, at: int = 0) -> None:
    """`jax.device_put(buffer)`, `jnp.asarray(buffer)`, also of a slice or of a display of buffers.

    `at` is the position of what is handed over.
    """
    node = call.node
    if frame.level != EAGER or not isinstance(node, ast.Call) or len(node.args) != len(call.positional):
        return
    for name in _lent(node.args[at], call.positional[at]) if at < len(node.args) else ():
        loan = Loan(node, api, name, _is_kept(frame, node))
        earlier = frame.names.get(f"~{name}!")
        if earlier is not None and isinstance(earlier.data, ast.AST) and not frame.quiet:
            _record(frame, earlier.data, loan, again=True)
        frame.names[f"~{name}="] = Value(UNKNOWN, data=loan)
        frame.lends = True


def _lent(node: ast.expr, value: Value) -> list[str]:
    """The names of the numpy arrays that are handed over as they are."""
    if isinstance(node, (ast.Tuple, ast.List)) and value.kind == TREE and value.data.__class__ is list:
        if len(node.elts) == len(value.data):
            return [n for item, v in zip(node.elts, value.data, strict=True) for n in _lent(item, v)]
        return []
    if isinstance(node, ast.Dict) and value.kind == TREE and value.data.__class__ is dict:
        if len(node.values) == len(value.data):
            pairs = zip(node.values, value.data.values(), strict=True)
            return [n for item, v in pairs for n in _lent(item, v)]
        return []
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        node = node.value  # a slice is a view
    name = dotted_name(node)
    return [name] if name is not None and value.kind == HOST else []


def _is_kept(frame: Frame, transfer: ast.Call) -> bool:
    """What jax makes of the buffer is returned, put into a container or stored on something."""
    statement = frame.statement
    if isinstance(statement, ast.Return):
        return statement.value is not None and _holds(statement.value, transfer)
    if isinstance(statement, ast.Assign):
        stored = not all(isinstance(target, ast.Name) for target in statement.targets)
        return stored and _holds(statement.value, transfer)
    value = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPING:
        return any(_holds(argument, transfer) for argument in value.args)
    return False


def _holds(node: ast.expr, transfer: ast.Call) -> bool:
    """The transfer itself, or a display with it."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(_holds(item, transfer) for item in node.elts)
    if isinstance(node, ast.Dict):
        return any(_holds(item, transfer) for item in node.values)
    return node is transfer


def forget(frame: Frame, name: str) -> None:
    """The name stands for another array from here on."""
    for suffix in "=!":
        frame.names.pop(f"~{name}{suffix}", None)


def written(frame: Frame, node: ast.AST, target: ast.expr) -> None:
    """A numpy array is written in place."""
    name = dotted_name(target)
    if name is None or frame.level != EAGER:
        return
    held = frame.names.get(f"~{name}=") if frame.lends else None
    if held is not None and isinstance(held.data, Loan):
        if not frame.quiet:
            _record(frame, node, held.data, again=False)
    elif _is_older(frame, name):
        frame.names.setdefault(f"~{name}!", Value(UNKNOWN, data=node))
        frame.lends = True


def _is_older(frame: Frame, name: str) -> bool:
    """A buffer that is there in every call of the function: of the object or the module."""
    function = frame.function
    if function is None or function.name in _RUN_ONCE:
        return False
    root, dot, _ = name.partition(".")
    return root == "self" if dot else root not in frame.names


def concerns(frame: Frame, callee: Value, call: Call) -> bool:
    """Whether a call has to be looked at: something is lent, or it may write an array or hand one to jax."""
    if frame.lends or "out" in call.keywords:
        return True
    if callee.kind == FUNCTION:
        return HOST in [value.kind for value in call.positional]
    return callee.kind == API and callee.data in WRITING_FIRST


def passed(frame: Frame, callee: Value, call: Call) -> None:
    """Such a call may write a buffer, or wait for what jax does with it."""
    node = call.node
    if not isinstance(node, ast.Call):
        return
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    dotted = callee.data if callee.kind == API else ""
    if dotted in WAITING or method in WAITING_METHODS:
        for key in [k for k, v in frame.names.items() if isinstance(v.data, Loan) and not v.data.kept]:
            del frame.names[key]
        return
    for keyword in node.keywords:
        if keyword.arg == "out":
            written(frame, node, keyword.value)
    if node.args and (
        dotted in WRITING_FIRST or "into" in method or dotted.endswith((".shuffle", ".readinto"))
    ):
        written(frame, node, node.args[0])
    if method in WRITING_METHODS and isinstance(node.func, ast.Attribute):
        written(frame, node, node.func.value)
    if callee.kind == FUNCTION:
        _handed_to(frame, callee.data, node, call)


def _handed_to(frame: Frame, closure: Closure, node: ast.Call, call: Call) -> None:
    """A function of the project writes a buffer that it is given, or hands it on to jax."""
    function = closure.function
    if len(node.args) != len(call.positional):
        return
    for position, (argument, value) in enumerate(zip(node.args, call.positional, strict=True)):
        index = position + closure.offset
        if value.kind != HOST or index >= len(function.params):
            continue
        parameter = function.params[index]
        if _writes(function.node, parameter):
            written(frame, node, argument)
        api = _lends(function).get(parameter)
        if api is not None:
            lend(frame, api, call, at=position)


def _lends(function: Function) -> dict[str, str]:
    """The parameters that a function hands to jax as they are, and to which call."""
    if function.lends is None:
        function.lends = {}
        for node in nodes_of(function.node, ast.Call):
            if node.args and isinstance(node.args[0], ast.Name):
                last = (dotted_name(node.func) or "").rpartition(".")[2]
                api = next((t for t in TRANSFERS if t.endswith(f".{last}")), None)
                if api is not None and node.args[0].id in function.index:
                    function.lends[node.args[0].id] = api
    return function.lends


def _writes(function: ast.AST, parameter: str) -> bool:
    """Whether a function stores into its parameter."""
    written: list[ast.expr] = [
        *(a.targets[0] for a in nodes_of(function, ast.Assign)),
        *(a.target for a in nodes_of(function, ast.AugAssign)),
    ]
    if any(isinstance(w, ast.Subscript) and dotted_name(w.value) == parameter for w in written):
        return True
    calls = (call for call in nodes_of(function, ast.Call) if call.args)
    copies = (call.args[0] for call in calls if (dotted_name(call.func) or "").endswith("copyto"))
    return any(dotted_name(copied) == parameter for copied in copies)


def _record(frame: Frame, node: ast.AST, loan: Loan, again: bool) -> None:
    if not may_share(frame, loan.name):
        return
    frame.record(
        HostBufferMutated(
            frame.place(node),
            frame.symbol,
            frame.proof(),
            name=loan.name,
            transfer=frame.place(loan.node),
            api=loan.api,
            kept=loan.kept,
            again=again,
        )
    )


__all__ = ["forget", "lend", "passed", "written"]
