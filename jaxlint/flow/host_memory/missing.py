"""Dicts that fill themselves by `__missing__`: with whatever key they are asked for."""

from __future__ import annotations

import ast

from jaxlint.flow.host_memory.keys import Key
from jaxlint.flow.program import LoadedModule
from jaxlint.index.walking import own_nodes
from jaxlint.index.written_names import last_name


def words_asked(module: LoadedModule, names: set[str]) -> frozenset[str]:
    """What the keys that containers of some names are asked for are made of."""
    found: set[str] = set()
    lasts = {name.rpartition(".")[2] for name in names}
    for scope in (module.tree, *(f.node for f in module.functions.values())) if lasts else ():
        for node in own_nodes(scope):
            if isinstance(node, ast.Subscript) and last_name(node.value) in lasts:
                found |= Key(module, scope, node.slice).words
    return frozenset(found)
