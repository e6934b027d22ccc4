"""Made-up rules, for tests of what the engine does with any rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PAGE = """\
---
code: {code}
slug: {slug}
since: 0.1.0
status: {status}
severity: warning
fix: none
summary: Made up.
---
# {code} {slug}
## What it does
Nothing.
## Why is this bad?
It is not.
## Example
```python bad
x = 1  # {code}
```
"""
MODULE = """\
from __future__ import annotations
from typing import TYPE_CHECKING
from jaxlint.flow.facts import BoundaryUse, JitCall, Scan
from jaxlint.rule import Rule
if TYPE_CHECKING:
    import libcst as cst

class Made(Rule):
    def suspect(self, fact: JitCall) -> bool:
        return True
    def check(self, fact: JitCall, node: cst.Call, ctx: Context):
        return iter(())
"""
AddRule = Callable[..., Path]
