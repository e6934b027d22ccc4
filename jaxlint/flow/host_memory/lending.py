"""numpy buffers that jax was given without a copy, and that are written afterwards.

On a CPU the jax array and the buffer may share memory for as long as both live; elsewhere the transfer may
still be reading. A loan lives in the environment under the name with `~` before and `=` after it, so that it
takes part in branches and loops as values do; a write of something older than the function under `~name!`.
"""

from __future__ import annotations

import ast

from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import API, FUNCTION, HOST, TREE, UNKNOWN
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import HostBufferMutated
from jaxlint.flow.frame import Call, Frame
from jaxlint.flow.host_memory.buffers import may_share
from jaxlint.flow.host_memory.lent_fields import BufferUse, of_buffers
from jaxlint.flow.syntax.bindings import scope_of
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.buffers import TRANSFERS, WAITING, WAITING_METHODS, WRITING_FIRST, WRITING_METHODS
from jaxlint.jax_api.transforms import EAGER

_KEEPING = frozenset({"append", "appendleft", "add", "insert", "extend", "put", "put_nowait", "setdefault"})
_RUN_ONCE = frozenset({"__init__", "__post_init__", "setup", "setUp", "main"})


class Loan:
    """A buffer handed to jax. `kept`: what jax made of it is stored, returned or yielded; else `made` are the names
    of it. `waited`: jax is done with what it was doing, and only a later look at those names would see a write."""

    __slots__ = ("donating", "kept", "made", "use", "waited")

    def __init__(self, use: BufferUse, kept: bool, made: tuple[str, ...] = ()) -> None:
        self.use = use
        self.kept = kept
        self.made = made
        self.waited = False
        self.donating = True  # of two joined the one that was not waited for stays, see flow.joining

    def after_waiting(self) -> Loan:
        """The same loan from there on."""
        later = Loan(self.use, self.kept, self.made)
        later.waited, later.donating = True, False
        return later


def lend(frame: Frame, api: str, call: Call, at: int = 0) -> None:
    """`jax.device_put(buffer)`, `jnp.asarray(buffer)`, also of a slice or of a display of buffers.

    `at` is the position of what is handed over.
    """
    node = call.node
    if frame.level != EAGER or not isinstance(node, ast.Call) or len(node.args) != len(call.positional):
        return
    for name in _lent(node.args[at], call.positional[at]) if at < len(node.args) else ():
        if may_share(frame, name):
            _lend(frame, name, node, BufferUse(frame.module, node, api, name))


def _lend(frame: Frame, name: str, node: ast.Call, use: BufferUse) -> None:
    """The call `node` hands the buffer over, or calls what does so at `use`."""
    loan = Loan(use, _is_kept(frame, node), tuple(_made_names(frame, node)))
    earlier = frame.names.get(f"~{name}!")
    if earlier is not None and isinstance(earlier.data, BufferUse) and not frame.quiet:
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


def _made_names(frame: Frame, transfer: ast.Call) -> list[str]:
    """The names that are bound to what jax makes of the buffer."""
    statement = frame.statement
    if not isinstance(statement, ast.Assign):
        return []
    pairs = [(target, statement.value) for target in statement.targets]
    for target, value in pairs:  # it grows meanwhile
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs += zip(target.elts, value.elts, strict=False)
    return [t.id for t, value in pairs if isinstance(t, ast.Name) and _holds(value, transfer)]


def _is_read_after(frame: Frame, names: tuple[str, ...], write: ast.AST) -> bool:
    """Whether one of the names is looked at behind a write, still bound to what it was; in a loop, the rounds
    before the write in the text come after it, too."""
    scope = nodes_of(scope_of(frame), ast.Name)
    line: int = write.end_lineno or write.lineno  # type: ignore[attr-defined]  # a write has a line
    loop = frame.loops[-1].node if frame.loops else None
    first = loop.lineno if loop is not None else line + 1
    for name in names:
        found = [n for n in scope if n.id == name]
        if any(first <= n.lineno <= line and not isinstance(n.ctx, ast.Load) for n in found):
            first = line + 1  # made anew in each round
        behind = sorted((n for n in found if n.lineno > line), key=lambda n: (n.lineno, n.col_offset))
        inside = [n for n in found if first <= n.lineno < write.lineno]  # type: ignore[attr-defined]  # as above
        if inside or (behind and isinstance(_first_use(behind).ctx, ast.Load)):
            return True
    return False


def _first_use(names: list[ast.Name]) -> ast.Name:
    """Of the first line with any: a name is read before it is bound there (`x = f(x)`)."""
    line = names[0].lineno
    return next((n for n in names if n.lineno == line and isinstance(n.ctx, ast.Load)), names[0])


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
    if name is not None:
        _write(frame, name, node, BufferUse(frame.module, node))


def _write(frame: Frame, name: str, node: ast.AST, use: BufferUse) -> None:
    """`node` writes the buffer, or calls what does so at `use`."""
    if frame.level != EAGER:
        return
    held = frame.names.get(f"~{name}=") if frame.lends else None
    if held is not None and isinstance(held.data, Loan):
        seen = not held.data.waited or _is_read_after(frame, held.data.made, node)
        if seen and not frame.quiet:
            _record(frame, use, held.data, again=False)
    elif _is_older(frame, name):
        frame.names.setdefault(f"~{name}!", Value(UNKNOWN, data=use))
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
        return callee.data.receiver is not None or HOST in [value.kind for value in call.positional]
    return callee.kind == API and callee.data in WRITING_FIRST


def passed(frame: Frame, callee: Value, call: Call) -> None:
    """Such a call may write a buffer, or wait for what jax does with it."""
    node = call.node
    if not isinstance(node, ast.Call):
        return
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    dotted = callee.data if callee.kind == API else ""
    if dotted in WAITING or method in WAITING_METHODS:
        for key, value in frame.names.items():
            if isinstance(value.data, Loan) and not value.data.kept:
                frame.names[key] = Value(UNKNOWN, data=value.data.after_waiting())
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
        _of_method(frame, callee.data, node)


def _of_method(frame: Frame, closure: Closure, node: ast.Call) -> None:
    """A method writes a buffer of its object, or hands one to jax and returns what that gives. (One that does both
    has said so itself.)"""
    owner = dotted_name(node.func.value) if isinstance(node.func, ast.Attribute) else None
    uses = of_buffers(frame, closure) if owner is not None else None
    if uses is None:
        return
    for field in uses.written.keys() - uses.lent.keys():
        _write(frame, f"{owner}.{field}", node, uses.written[field])
    for field in uses.lent.keys() - uses.written.keys():
        _lend(frame, f"{owner}.{field}", node, uses.lent[field])


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


def _record(frame: Frame, write: BufferUse, loan: Loan, again: bool) -> None:
    frame.record(
        HostBufferMutated(
            write.module.place(write.node),
            frame.symbol,
            frame.proof(),
            name=loan.use.name,
            transfer=loan.use.module.place(loan.use.node),
            api=loan.use.api,
            kept=loan.kept,
            again=again,
            by_method=write.by_method,
        )
    )


__all__ = ["forget", "lend", "passed", "written"]
