"""Lists that a loop sorts members into by what they say, `groups[row["user"]].append(row)`, and what
`itertools.groupby` gives: each has its own length.

Keys that are drawn (`groups[rng.integers(n)].append(x)`) make lists of their own lengths in any loop.

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
# What draws one of several keys, in `random`, numpy and jax alike; a permutation has each of them once.
_DRAWS = frozenset(
    {"choice", "choices", "integers", "randint", "randrange", "random_integers", "categorical"}
    | {"poisson", "binomial", "geometric", "zipf"}
)


def note_grouped(frame: Frame, method: ast.Attribute, call: Call) -> None:
    """`groups[key].append(x)`, `groups.setdefault(key, []).append(x)`: what `groups` holds is ragged; and so is, of
    `players[key].scores.append(x)`, the list in that field."""
    if call.positional:
        added(frame, method.value, call.node, call.positional[0])


def added(frame: Frame, group: ast.expr, node: ast.AST, member: Value) -> None:
    """A member is added to a list that stands under a key."""
    held = group
    while isinstance(held, ast.Attribute):
        held = held.value
    found = _container_and_key(held)
    if found is None:
        return
    container, key = found
    owner = look(frame, group if held is not group else container)
    if held is group and not _holds_lists(owner):
        return
    if owner.kind != TREE or not _sorts(frame, container, key, only_drawn=held is not group):
        return
    ragged = owner if held is not group else owner.element
    known = ragged.element if ragged is not None and ragged.kind == TREE else None
    member = member if known is None else join(known, member)
    origin = Origin(frame.module, node, LENGTH)
    owner.data = None
    if held is group:
        owner.element = Value(TREE, 0, RAGGED, None, member, origin)
    else:
        owner.tags |= RAGGED
        owner.element, owner.origin = member, origin


def _holds_lists(owner: Value) -> bool:
    """A dict or list whose members are lists, or that is empty."""
    word = owner.origin.word if owner.kind == TREE and owner.origin is not None else ""
    if word not in ("dict", "list") or (owner.data.__class__ is dict and owner.data):
        return False
    return word == "dict" or (owner.element is not None and owner.element.kind == TREE)


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


def _sorts(frame: Frame, container: ast.expr, key: ast.expr, only_drawn: bool = False) -> bool:
    """Whether the keys of a container made here are told by the members that a loop goes through, or drawn."""
    if not frame.loops:
        outer = _passed_on(frame, container, key)
        return outer is not None and _sorts(*outer, only_drawn)
    made = bindings_of(frame).of(dotted_name(container) or "")
    around = [loop.node for loop in frame.loops if not made or loop.node.lineno > made[0].lineno]
    if not around or len(made) > 1:
        return False
    told = [key, *_bound_to(frame, key, around[-1])]
    if only_drawn or any(map(_is_drawn, told)):
        return any(map(_is_drawn, told))
    if not made or not isinstance(around[-1], _FOR) or any(_is_counted(frame, node) for node in told):
        return False
    asked = {n.id for node in told for n in walk(node) if isinstance(n, ast.Name)}
    sources = [source for name, source in _targets(around[-1]) if name in asked]
    if len(around) == 1:
        return bool(sources)
    new = _bound_in(around[-2])
    return any(isinstance(n, ast.Name) and n.id in new for source in sources for n in walk(source))


def _passed_on(frame: Frame, container: ast.expr, key: ast.expr) -> tuple[Frame, ast.expr, ast.expr] | None:
    """The container and the key as the caller of this function now names them: `record(games, player, score)`."""
    function, stack = frame.function, frame.run.stack
    caller = stack[-2].frame if len(stack) > 1 and stack[-1] is frame.evaluation else None
    if function is None or caller is None or caller.statement is None or function.is_lambda:
        return None
    calls = [
        n
        for n in walk(caller.statement)
        if isinstance(n, ast.Call) and last_name(n.func) == function.name and len(n.args) > 0
    ]
    if len(calls) != 1 or any(isinstance(a, ast.Starred) for a in calls[0].args):
        return None
    params = function.params[function.is_method :]
    given = dict(zip(params, calls[0].args, strict=False)) | {
        k.arg: k.value for k in calls[0].keywords if k.arg
    }
    asked = [n.id for n in walk(key) if isinstance(n, ast.Name) and n.id in given]
    if len(asked) != 1:
        return None
    held = given[container.id] if isinstance(container, ast.Name) and container.id in given else container
    return caller, held, given[asked[0]]


def _bound_to(frame: Frame, node: ast.expr, loop: ast.stmt) -> list[ast.expr]:
    """What the names of an expression are bound to in a loop, and the names of that."""
    found: list[ast.expr] = [node]
    for part in found:  # it grows meanwhile
        for name in (n.id for n in walk(part) if isinstance(n, ast.Name)):
            bound = bindings_of(frame).of(name)
            inside = [b for b in bound if loop.lineno < b.lineno <= (loop.end_lineno or loop.lineno)]
            found += [b for b in inside if b not in found]
    return found[1:]


def _is_drawn(key: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and last_name(n.func) in _DRAWS for n in walk(key))


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
