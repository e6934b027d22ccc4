"""Which fields a method stores on its object, by the syntax alone."""

from __future__ import annotations

import ast

from jaxlint.index.walking import walk

# What makes an object: what these store is there from the start.
CONSTRUCTORS = frozenset({"__init__", "setup", "__post_init__"})


def stored_on_self(method: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """The names of `self.x = …`, whatever the method calls its object."""
    named = [*method.args.posonlyargs, *method.args.args]
    if not named:
        return set()
    own = named[0].arg
    return {
        node.attr
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == own
    }
