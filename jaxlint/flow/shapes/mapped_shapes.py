"""What the transforms that run a function for each row give: a stack of what the function gives for one."""

from __future__ import annotations

import ast
from collections.abc import Callable

from jaxlint.flow.shapes.shape_values import Array, Items, Known, Number, Record, Table, members_of

# What a function, given by its expression, returns for such arguments.
Apply = Callable[[ast.expr, list[Known]], Known]


def row_of(known: Known) -> Known:
    """One row of each array in a tree."""
    if isinstance(known, Array):
        return Array(known.shape[1:]) if known.shape else None
    if isinstance(known, Items):
        return Items(tuple(map(row_of, known.members)))
    if isinstance(known, (Table, Record)):
        return type(known)(tuple((k, row_of(m)) for k, m in known.members))
    return None


def rows_in(known: Known) -> int | None:
    """How many rows the arrays of a tree have."""
    if isinstance(known, Array):
        return known.shape[0] if known.shape else None
    return next((n for n in map(rows_in, members_of(known) or ()) if n is not None), None)


def stack_of(known: Known, length: int | None) -> Known:
    """So many of each array or number in a tree, stacked."""
    if isinstance(known, (Array, Number)):
        return Array((length, *(known.shape if isinstance(known, Array) else ())))
    if isinstance(known, Items):
        return Items(tuple(stack_of(m, length) for m in known.members))
    return (
        Table(tuple((k, stack_of(m, length)) for k, m in known.members)) if isinstance(known, Table) else None
    )


def looped(name: str, call: ast.Call, arguments: list[Known], words: dict[str, Known], apply: Apply) -> Known:
    """`lax.map(f, xs)`, `lax.scan(f, init, xs, length)`."""
    function = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "f"), None)
    given = dict(
        zip(("f", "init", "xs", "length") if name == "scan" else ("f", "xs"), arguments, strict=False)
    )
    given.update(words)
    over = given.get("xs")
    if function is None:
        return None
    if name == "map":
        return stack_of(apply(function, [row_of(over)]), rows_in(over))
    steps = given.get("length")
    length = steps.value if isinstance(steps, Number) else rows_in(over)
    result = apply(function, [given.get("init"), row_of(over)])
    row = result.members[1] if isinstance(result, Items) and len(result.members) == 2 else None
    return Items((given.get("init"), stack_of(row, length)))


def vmapped(wrapper: ast.Call, arguments: list[Known], apply: Apply) -> Known:
    """`vmap(f)(…)`: each argument is mapped along its first axis, or, by `in_axes`, is not mapped at all."""
    axes = wrapper.args[1] if len(wrapper.args) == 2 else None
    for keyword in wrapper.keywords:
        if keyword.arg != "in_axes":
            return None
        axes = keyword.value
    if not wrapper.args or len(wrapper.args) > 2:
        return None
    along = axes.elts if isinstance(axes, (ast.Tuple, ast.List)) else [axes] * len(arguments)
    chosen = [a.value if isinstance(a, ast.Constant) else 0 if a is None else -1 for a in along]
    if len(chosen) != len(arguments) or not all(c is None or c == 0 for c in chosen):
        return None
    mapped = [known for known, axis in zip(arguments, chosen, strict=True) if axis == 0]
    one = [row_of(known) if axis == 0 else known for known, axis in zip(arguments, chosen, strict=True)]
    return stack_of(apply(wrapper.args[0], one), rows_in(Items(tuple(mapped))))
