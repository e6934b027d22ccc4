"""Whether code in a loop runs once all the same: told by the syntax of the function around it.

It does behind a test that what it makes is not there yet, in the one round that a test picks, and where the round
is the last one.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jaxlint.index.memos import blocks, is_kept, memos, outlives
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Repetition(NamedTuple):
    """What the path to code says of how often it runs: see `runs_once` and `is_remembered`."""

    once: bool
    remembered: bool


def runs_once(scope: ast.AST, node: ast.AST) -> bool:
    """Whether a call of the function runs the code once at most, although it stands in a loop."""
    return _repetition(scope, node).once


def is_remembered(scope: ast.AST, node: ast.AST) -> bool:
    """Whether the code runs only as long as something that outlives the call of the function does not hold what it
    makes."""
    return _repetition(scope, node).remembered


def _repetition(scope: ast.AST, node: ast.AST) -> Repetition:
    known: Repetition | None = node.__dict__.get("repetition")
    if known is None:
        known = node.repetition = repetition(_path(scope, node))  # type: ignore[attr-defined]  # once for each tree
    return known


def repetition(path: Sequence[ast.AST]) -> Repetition:
    """Of the last node on a path that begins at its function or module. Nodes that have no place are left out."""
    loops = [i for i in range(len(path) - 1) if _repeats(path[i], path[i + 1])]
    within = path[loops[-1] :] if loops else path
    tests = list(memos(within))
    remembered = any(outlives(memo, path[0]) and is_kept(memo, path[0]) for memo in tests)
    if not loops or isinstance(within[0], _COMPREHENSIONS):
        return Repetition(False, remembered)
    outermost = path[loops[0]]
    once = (
        any(is_kept(memo, outermost) for memo in tests)
        or _returns(within, len(loops) == 1)
        or (len(loops) == 1 and _is_one_round(within))
    )
    return Repetition(once, remembered)


def _path(scope: ast.AST, node: ast.AST) -> list[ast.AST]:
    """The nodes from the scope down to a node of it, found by their places."""
    if not hasattr(node, "lineno"):
        return []
    path = [scope]
    while path[-1] is not node:
        inner = next((child for child in _children(path[-1]) if _contains(child, node)), None)
        if inner is None:
            return []
        path.append(inner)
    return path


def _children(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if hasattr(child, "lineno"):
            yield child
        else:  # of no place of its own: `comprehension`, `arguments`, `match_case`
            yield from _children(child)


def _contains(outer: ast.AST, inner: ast.AST) -> bool:
    start = _start(outer)
    end: tuple[int, int] = outer.end_lineno, outer.end_col_offset  # type: ignore[attr-defined]  # it has a place
    return start <= _start(inner) and (inner.end_lineno, inner.end_col_offset) <= end  # type: ignore[attr-defined]  # so has this one


def _start(node: ast.AST) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", None)
    first: ast.AST = decorators[0] if decorators else node
    return first.lineno, first.col_offset  # type: ignore[attr-defined]  # it has a place


def _repeats(node: ast.AST, inner: ast.AST) -> bool:
    """Whether a node is a loop that runs a node right within it again and again."""
    if isinstance(node, _COMPREHENSIONS):
        return inner is not node.generators[0].iter
    if isinstance(node, ast.While):
        return inner not in node.orelse
    return isinstance(node, _LOOPS) and inner in node.body


def _returns(path: Sequence[ast.AST], only_loop: bool) -> bool:
    """Whether the loop (the first of the path) is left, by `return` or, if there is no other loop, by `break`,
    after the last node has run."""
    ways = (ast.Break, ast.Return, ast.Raise) if only_loop else (ast.Return, ast.Raise)
    for node, inner in itertools.pairwise(path):
        for block in blocks(node):
            if inner in block and isinstance(block[-1], ways):
                rest = (part for each in block for part in walk(each))
                return not any(isinstance(part, ast.Continue) for part in rest)
    return False


def _is_one_round(path: Sequence[ast.AST]) -> bool:
    """`for i, x in enumerate(xs): if i == 0: …`."""
    loop = path[0]
    counter = _counter(loop)
    if not counter:
        return False
    changed = {p.id for p in walk(loop) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Store)}
    for node, inner in itertools.pairwise(path):
        if (
            isinstance(node, (ast.If, ast.IfExp))
            and _is_chosen(node, inner)
            and isinstance(node.test, ast.Compare)
        ):
            sides = [node.test.left, *node.test.comparators]
            other = [side for side in sides if dotted_name(side) != counter]
            fixed = not any(isinstance(p, ast.Name) and p.id in changed for s in other for p in walk(s))
            if isinstance(node.test.ops[0], ast.Eq) and len(sides) == 2 and len(other) == 1 and fixed:
                return True
    return False


def _is_chosen(node: ast.If | ast.IfExp, inner: ast.AST) -> bool:
    return inner in node.body if isinstance(node, ast.If) else inner is node.body


def _counter(loop: ast.AST) -> str | None:
    """The name that is another number in each round."""
    if not isinstance(loop, ast.For) or not isinstance(loop.iter, ast.Call):
        return None
    target, function = loop.target, dotted_name(loop.iter.func)
    if function == "enumerate" and isinstance(target, ast.Tuple):
        return dotted_name(target.elts[0])
    return dotted_name(target) if function == "range" else None
