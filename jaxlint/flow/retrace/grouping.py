"""Lists that a loop sorts members into by what they say, `groups[row["user"]].append(row)`, and what
`itertools.groupby` gives: each has its own length.

A loop that logs (`history[name].append(value)` for the same names in each round) makes lists of one length: the
keys have to come from what is new in each round, once for each member, or from what such a round brings along.
"""

from __future__ import annotations

import ast

from jaxlint.flow.domain.joining import join
from jaxlint.flow.domain.kinds import CONSTANT, TREE
from jaxlint.flow.domain.origin_words import LENGTH
from jaxlint.flow.domain.tags import BOUNDED, RAGGED
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Origin, Value, collection, tree
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.statements.assignment import target_names
from jaxlint.flow.statements.iteration import element_of
from jaxlint.flow.syntax.bindings import bindings_of, look
from jaxlint.index.walking import own_nodes, walk
from jaxlint.index.written_names import dotted_name, last_name

ADDING = frozenset({"append", "add", "extend"})
_COUNTS = frozenset({"loop index", "enumerate counter", "counter"})
_FOR = (ast.For, ast.AsyncFor)


def note_grouped(frame: Frame, method: ast.Attribute, call: Call) -> None:
    """`groups[key].append(x)`, `groups.setdefault(key, []).append(x)`: what `groups` holds is ragged."""
    found = _container_and_key(method.value)
    if found is None or not frame.loops or not call.positional:
        return
    container, key = found
    owner = look(frame, container)
    word = owner.origin.word if owner.kind == TREE and owner.origin is not None else ""
    if word not in ("dict", "list") or (owner.data.__class__ is dict and owner.data):
        return
    if word == "list" and (owner.element is None or owner.element.kind != TREE):
        return
    if not _sorts(frame, container, key):
        return
    known = owner.element.element if owner.element is not None and owner.element.kind == TREE else None
    member = call.positional[0] if known is None else join(known, call.positional[0])
    owner.data = None
    owner.element = Value(TREE, 0, RAGGED, None, member, Origin(frame.module, call.node, LENGTH))


@api_call("groupby")
def groupby(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`itertools.groupby(rows, key)`: (key, group) for each run of one key."""
    rows = call.argument(0, "iterable")
    member = element_of(rows) if rows is not None else UNKNOWN_VALUE
    group = Value(TREE, 0, RAGGED, None, member, Origin(frame.module, call.node, LENGTH))
    return collection(tree([UNKNOWN_VALUE, group]))


def _container_and_key(node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    if isinstance(node, ast.Subscript):
        return node.value, node.slice
    is_default = isinstance(node, ast.Call) and last_name(node.func) == "setdefault" and len(node.args) == 2
    if is_default and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value, node.args[0]
    return None


def _sorts(frame: Frame, container: ast.expr, key: ast.expr) -> bool:
    """Whether the keys of a container made here are told by the members that a loop goes through."""
    made = bindings_of(frame).of(dotted_name(container) or "")
    around = [loop.node for loop in frame.loops if len(made) == 1 and loop.node.lineno > made[0].lineno]
    if not around or not isinstance(around[-1], _FOR):
        return False
    told = [key, *_bound_to(frame, key, around[-1])]
    if any(_is_counted(frame, node) for node in told):
        return False
    asked = {n.id for node in told for n in walk(node) if isinstance(n, ast.Name)}
    sources = [source for name, source in _targets(around[-1]) if name in asked]
    if len(around) == 1:
        return bool(sources)
    new = _bound_in(around[-2])
    return any(isinstance(n, ast.Name) and n.id in new for source in sources for n in walk(source))


def _bound_to(frame: Frame, node: ast.expr, loop: ast.stmt) -> list[ast.expr]:
    """What the names of an expression are bound to in a loop, and the names of that."""
    found: list[ast.expr] = [node]
    for part in found:  # it grows meanwhile
        for name in (n.id for n in walk(part) if isinstance(n, ast.Name)):
            bound = bindings_of(frame).of(name)
            inside = [b for b in bound if loop.lineno < b.lineno <= (loop.end_lineno or loop.lineno)]
            found += [b for b in inside if b not in found]
    return found[1:]


def _is_counted(frame: Frame, key: ast.expr) -> bool:
    """A position, one of few values, or a constant: the lists have one length, or are few."""
    if any(isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mod, ast.FloorDiv)) for n in walk(key)):
        return True
    value = look(frame, key)
    word = value.origin.word if value.origin is not None else ""
    return value.kind == CONSTANT or bool(value.tags & BOUNDED) or word in _COUNTS


def _targets(loop: ast.For | ast.AsyncFor) -> list[tuple[str, ast.expr]]:
    """(name, what it goes through) of the variables of a loop; not the keys of a dict: there is one of each."""
    source, target = loop.iter, loop.target
    called = last_name(source.func) if isinstance(source, ast.Call) else ""
    if called == "keys":
        return []
    columns = target.elts if isinstance(target, ast.Tuple) else [target]
    found: list[tuple[str, ast.expr]] = []
    for position, column in enumerate(columns):
        if called in ("items", "enumerate") and position == 0 and len(columns) > 1:
            continue
        apart = called == "zip" and isinstance(source, ast.Call) and len(source.args) == len(columns)
        names: list[str] = []
        target_names(column, names)
        found += [(name, source.args[position] if apart else source) for name in names]  # type: ignore[attr-defined]  # a call where apart
    return found


def _bound_in(loop: ast.AST) -> set[str]:
    """The names that a loop binds anew in each round."""
    return {n.id for n in own_nodes(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
