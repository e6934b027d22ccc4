"""`__getattr__` that hands on to another object: the wrappers of environments and models."""

from __future__ import annotations

import ast


def asked_instead(method: ast.AST) -> list[str]:
    """The fields that lead from `self` to the object asked instead: `["env"]` of
    `def __getattr__(self, name): return getattr(self.env, name)`. Empty where the method does something else."""
    if not isinstance(method, ast.FunctionDef) or len(method.args.args) != 2:
        return []
    owner, name = (argument.arg for argument in method.args.args)
    last = method.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call) or len(last.value.args) != 2:
        return []
    asked, by = last.value.args
    if not (isinstance(last.value.func, ast.Name) and last.value.func.id == "getattr"):
        return []
    return _fields(asked, owner) if isinstance(by, ast.Name) and by.id == name else []


def _fields(node: ast.expr, owner: str) -> list[str]:
    """`self.a.b`, `self.__dict__["a"]`, `object.__getattribute__(self, "a")`."""
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name):
            return [node.attr] if node.value.id == owner else []
        before = _fields(node.value, owner)
        return [*before, node.attr] if before else []
    if isinstance(node, ast.Subscript):
        key, whole = node.slice, _fields(node.value, owner) == ["__dict__"]
    elif isinstance(node, ast.Call) and node.args and isinstance(node.func, ast.Attribute):
        key, whole = node.args[-1], node.func.attr == "__getattribute__"
    else:
        return []
    return [key.value] if whole and isinstance(key, ast.Constant) and isinstance(key.value, str) else []
