"""Moving an expression out of the loops in which its value is always the same."""

from __future__ import annotations

import ast
import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Edit, Place, Span
from jaxlint.pattern import pattern

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# Words by which a round may end early. They may stand in a string, too.
_LEAVES = pattern(r"\b(continue|break|return|raise|assert)\b")


def hoist(node: cst.CSTNode, name: str, reads: set[str], ctx: Context) -> tuple[Edit, ...]:
    """The edits that bind an expression once before the loops around it, or () where that could change it.

    `name` is used where the expression has none yet; `reads` are further names that its value depends on.
    """
    code = ctx.focus.text(ctx.span(node))
    own = free_names(code)
    if own is None:
        return ()
    loop, changed = _outermost(node, own | reads, ctx)
    if loop is None or is_protected(node, loop, ctx):
        return ()
    indent = ctx.indent(loop)
    bound = _binding(node, ctx)
    if bound is not None:
        target, span = bound
        if changed[target] > 1 or target in own | reads:
            return ()
        moved = moved_to(indent, span.line, span.end_line, ctx).strip()
        whole = Span(span.line, 1, span.end_line + 1, 1)
        return (ctx.insert_before(loop, f"{moved}\n{indent}"), Edit(whole, ""))
    free = next(n for n in _numbered(name) if not re.search(rf"\b{n}\b", ctx.source))
    return (ctx.insert_before(loop, f"{free} = {code}\n{indent}"), ctx.replace(node, free))


def moved_to(indent: str, first: int, last: int, ctx: Context) -> str:
    """The lines of a statement as they are behind other white space. What a string goes on with stays as it is."""
    from jaxlint.project.comments import Comments

    comments, own = Comments(ctx.source), _indent(ctx.focus.lines[first - 1])
    return "".join(
        indent + line.removeprefix(own)
        if line.startswith(own) and line.strip() and not comments.begins_in_string(number)
        else line
        for number, line in enumerate(ctx.focus.lines[first - 1 : last], start=first)
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def fails_without_a_round(node: cst.CSTNode, loop: cst.For | cst.While, ctx: Context) -> bool:
    """Whether evaluating an expression before a loop may fail where the loop, or one in it, runs no round."""
    import libcst as cst

    within = itertools.takewhile(lambda parent: parent is not loop, ctx.parents(node))
    around = [loop, *(parent for parent in within if isinstance(parent, (cst.For, cst.While)))]
    sure = all(_runs(each, ctx) for each in around)
    return not sure and _may_raise(ctx.focus.text(ctx.span(node)), ctx, names=False)


def _runs(loop: cst.For | cst.While, ctx: Context) -> bool:
    """Whether a loop surely runs a round, by literals."""
    import libcst as cst

    code = ctx.focus.code(loop.iter if isinstance(loop, cst.For) else loop.test)
    if isinstance(loop, cst.While):
        return code in ("True", "1")
    rounds = re.fullmatch(r"range\((\d+)\)", code)
    if rounds is not None:
        return int(rounds[1]) > 0
    members = loop.iter.elements if isinstance(loop.iter, (cst.List, cst.Tuple)) else ()
    return any(isinstance(member, cst.Element) for member in members)


def is_protected(node: cst.CSTNode, outer: cst.CSTNode | None, ctx: Context) -> bool:
    """Whether a condition within a loop, or with None within the function, may be what keeps an expression from
    failing."""
    return _is_conditional(node, outer, ctx) and _may_raise(ctx.focus.text(ctx.span(node)), ctx)


def _may_raise(code: str, ctx: Context, *, names: bool = True) -> bool:
    """Whether evaluating an expression may fail where a condition does not hold: it needs more than libraries,
    functions of the module and numbers. What a lambda does comes later. `names`: what a name means may be missing,
    too, or lack an attribute."""
    libraries = {spelling.partition(".")[0] for spelling in ctx.aliases.values()}
    defined = {n.name for n in ctx.focus.tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    waiting: list[ast.AST] = [*ast.parse(textwrap.dedent(code).strip()).body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Lambda):
            waiting.append(node.args)
            continue
        if isinstance(node, (ast.Subscript, ast.BinOp, ast.Await, ast.Starred)):
            return True
        looked_up = (ast.Attribute, ast.Call) if names else ast.Call
        if isinstance(node, looked_up) and _root(_function(node)) not in libraries:
            return True
        if names and isinstance(node, ast.Name) and node.id not in libraries | defined:
            return True
        waiting += ast.iter_child_nodes(node)
    return False


def _function(node: ast.Attribute | ast.Call) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _is_conditional(node: cst.CSTNode, outer: cst.CSTNode | None, ctx: Context) -> bool:
    """Whether a round of a loop, or a call of the function, may come by without evaluating an expression in it."""
    import libcst as cst

    inside = node
    for parent in ctx.parents(node):
        if isinstance(parent, (cst.Try, cst.TryStar, cst.Match)):
            return True
        if isinstance(parent, (cst.If, cst.IfExp, cst.While)) and inside is not parent.test:
            return True
        if isinstance(parent, cst.BooleanOperation) and inside is parent.right:
            return True
        if isinstance(parent, (cst.IndentedBlock, cst.SimpleStatementSuite)):
            before = parent.body[: next(i for i, each in enumerate(parent.body) if each is inside)]
            if any(_LEAVES.search(ctx.focus.code(statement)) for statement in before):
                return True
        if parent is outer or isinstance(parent, cst.FunctionDef):
            return False
        inside = parent
    return False


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{i}" for i in itertools.count(2))


def free_names(code: str) -> set[str] | None:
    """The names that some source reads and does not bind itself; None when it cannot be parsed."""
    try:
        tree = ast.parse(textwrap.dedent(code).strip())
    except SyntaxError:
        return None
    bound = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - bound


def read_by(definition: Place | None, ctx: Context) -> set[str] | None:
    """The free names of a function of this file; None when it is not in view."""
    if definition is None or definition.path != ctx.path:
        return None
    header = definition.span.line - 1
    rest = ctx.focus.lines[header + 1 :]
    depth = _depth(ctx.focus.lines[header])
    end = next((i for i, line in enumerate(rest) if line.strip() and _depth(line) <= depth), len(rest))
    return free_names(ctx.focus.lines[header] + "".join(rest[:end]))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _binding(node: cst.CSTNode, ctx: Context) -> tuple[str, Span] | None:
    """The name and the span of a statement `name = node` that stands directly in the body of a loop."""
    import libcst as cst

    assign, line, block, loop = [*ctx.parents(node), None, None, None, None][:4]
    if not (isinstance(assign, cst.Assign) and isinstance(line, cst.SimpleStatementLine)):
        return None
    target = assign.targets[0].target
    plain = len(assign.targets) == 1 and isinstance(target, cst.Name) and len(line.body) == 1
    within = (
        isinstance(block, cst.IndentedBlock)
        and len(block.body) > 1
        and isinstance(loop, (cst.For, cst.While))
    )
    return (target.value, ctx.span(line)) if plain and within and isinstance(target, cst.Name) else None


def _outermost(node: cst.CSTNode, needed: set[str], ctx: Context) -> tuple[cst.CSTNode | None, Counter[str]]:
    """The outermost loop of the function that changes nothing needed, and what it changes."""
    import libcst as cst

    found: cst.CSTNode | None = None
    changed: Counter[str] = Counter()
    for parent in ctx.parents(node):
        if isinstance(parent, (cst.FunctionDef, cst.Lambda, cst.Decorator, cst.BaseComp)):
            break
        if isinstance(parent, (cst.For, cst.While)):
            now = changed_in(parent, ctx)
            if now is None or needed & now.keys():
                break
            found, changed = parent, now
    return found, changed


def changed_in(code: cst.CSTNode, ctx: Context) -> Counter[str] | None:
    """How often a statement binds each name or writes into what it names; None when it cannot be read."""
    span = ctx.span(code)
    try:
        tree = ast.parse(textwrap.dedent(ctx.indent(code) + ctx.focus.text(span)))
    except SyntaxError:
        return None
    libraries = {spelling.partition(".")[0] for spelling in ctx.aliases.values()}
    changed: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            changed[_root(node)] += 1
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            changed[node.name] += 1
        elif isinstance(node, ast.alias):
            changed[node.asname or node.name.partition(".")[0]] += 1
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            root = _root(node.value.func)
            if root not in libraries:
                changed[root] += 1  # called for its effect, perhaps on its object
    return changed


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
