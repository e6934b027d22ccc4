"""Numbers that are kept together: fields of a settings object that the module names, and options of the command
line, as they are when nobody passes others."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import CONSTANT, INSTANCE
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule
from jaxlint.index.walking import nodes_of
from jaxlint.index.written_names import last_name


def setting(module: LoadedModule, node: ast.expr | None) -> Value | None:
    """The constant that `settings.steps` is, for an object that is a name of the module."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    owner = (module.names or {}).get(node.value.id)
    found: Value | None = owner.data.fields.get(node.attr) if owner and owner.kind == INSTANCE else None
    return found if found is not None and found.kind == CONSTANT else None


def option_default(module: LoadedModule, node: ast.expr | None) -> int | None:
    """20 for `options.steps`, where the module says `options = parser.parse_args()` of a parser for which it calls
    `parser.add_argument("--steps", type=int, default=20)`. None where a name is bound twice, or by a function."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    parser = _receiver(_only_value(module, node.value.id), "parse_args")
    made = _only_value(module, parser) if parser else None
    if not isinstance(made, ast.Call) or last_name(made.func) != "ArgumentParser":
        return None
    added = [c for c in nodes_of(module.tree, ast.Call) if _receiver(c, "add_argument") == parser]
    named = [words for c in added if (words := _words(c)) is not None and words[0] == node.attr]
    default = named[0][1].get("default") if len(named) == 1 else None
    value = default.value if isinstance(default, ast.Constant) else None
    return value if type(value) is int else None


def _receiver(call: ast.AST | None, method: str) -> str:
    """`parser` of `parser.parse_args()`."""
    callee = call.func if isinstance(call, ast.Call) else None
    of = callee.value if isinstance(callee, ast.Attribute) and callee.attr == method else None
    return of.id if isinstance(of, ast.Name) else ""


def _only_value(module: LoadedModule, name: str) -> ast.expr | None:
    """What the name is bound to wherever it stands in the module."""
    stores = [n for n in nodes_of(module.tree, ast.Name) if n.id == name and isinstance(n.ctx, ast.Store)]
    if len(stores) != 1 or any(a.arg == name for a in nodes_of(module.tree, ast.arg)):
        return None
    return next((a.value for a in nodes_of(module.tree, ast.Assign) if a.targets == stores), None)


def _words(call: ast.Call) -> tuple[str, dict[str, ast.expr]] | None:
    """The attribute that an argument is stored in, and what the call says of it."""
    words = {k.arg: k.value for k in call.keywords if k.arg is not None}
    flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    long = [flag for flag in flags if flag.startswith("--")]
    stored = words.get("dest")
    if isinstance(stored, ast.Constant):
        return str(stored.value), words
    return (long[0].lstrip("-").replace("-", "_"), words) if long else None
