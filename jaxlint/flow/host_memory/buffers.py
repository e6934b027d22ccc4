"""Where a numpy array was made, and whether jax can take it without a copy."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxlint.flow.frame import Frame
from jaxlint.index.walking import walk
from jaxlint.index.written_names import dotted_name
from jaxlint.jax_api.buffers import CONVERTED, DRAWS, MAKER_DTYPES


def may_share(frame: Frame, name: str) -> bool:
    """Whether jax may keep the memory of the array of that name, which is made in the function, on any method's
    `self`, or at module level: not if it has to convert it to 32 bits."""
    function = frame.function
    root: ast.AST = function.node if function is not None else frame.module.tree
    if name.startswith("self.") and function is not None and function.cls is not None:
        root = function.cls.node
    elif "." not in name and name not in frame.names:
        root = frame.module.tree
    return made_to_share(root, name)


def made_to_share(root: ast.AST, name: str) -> bool:
    """The same of an array that is made in a function, class or module."""
    made = list(_made(root, name))
    return not made or any(_is_kept_as_it_is(value) for value in made)


def _made(root: ast.AST, name: str) -> Iterator[ast.expr]:
    for node in walk(root):
        targets = node.targets if isinstance(node, ast.Assign) else []
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if value is not None and any(dotted_name(target) == name for target in targets):
            yield value


def _is_kept_as_it_is(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call):
        return True
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted_name(node.func) or ""
    given = next((k.value for k in node.keywords if k.arg == "dtype"), None)
    if name == "astype":
        given = given or (node.args[0] if node.args else None)
        return given is None or not _is_converted(given)
    if given is None and name in MAKER_DTYPES:
        position = MAKER_DTYPES[name]
        given = node.args[position] if position < len(node.args) else None
        if given is None:
            return False
    if given is None:
        return name not in DRAWS
    return not _is_converted(given)


def _is_converted(dtype: ast.expr) -> bool:
    text = dtype.value if isinstance(dtype, ast.Constant) else (dotted_name(dtype) or "")
    return str(text).rpartition(".")[2] in CONVERTED
