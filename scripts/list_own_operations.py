#!/usr/bin/env python3
"""Make jaxlint/triage/own_operations.json: the names that jax compiles its own operations by, outside jit.

    python scripts/list_own_operations.py PYTHON...

Each interpreter has a jax of its own. The names are those of jax's primitives, of the public functions of
jax.numpy, jax.lax, jax.random, jax.nn and jax.scipy, and of the functions in jax's sources that are jitted where
they are defined. Left out are control flow, which a program calls with functions of its own, and words that
programs use.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "jaxlint" / "triage" / "own_operations.json"

# Run in each interpreter.
LIST = """
import ast, gc, json, pathlib, jax, jax.numpy as jnp, jax.lax as lax
from jax._src.core import Primitive
import jax.scipy.special, jax.scipy.linalg, jax.scipy.stats
names = {o.name for o in gc.get_objects() if isinstance(o, Primitive)} | {"stage", "unstack"}
scipy = jax.scipy
modules = jnp, lax, jax.random, jax.nn, jnp.linalg, jnp.fft, scipy.special, scipy.linalg, scipy.stats
for module in modules:
    for name in dir(module):
        found = getattr(module, name, None)
        if callable(found) and not isinstance(found, type) and not name.startswith("__"):
            names.add(name.removesuffix("_p"))
for path in pathlib.Path(jax.__file__).parent.rglob("*.py"):
    if "test" in str(path) or "/tools/" in str(path):
        continue
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list):
            names.add(node.name)
print(json.dumps([jax.__version__, sorted(names)]))
"""

CONTROL = "scan while while_loop fori_loop cond switch map associative_scan"
TRANSFORMS = """jit pjit pmap xla_pmap vmap grad checkpoint remat custom_jvp custom_vjp custom_jvp_call
custom_vjp_call custom_vjp_call_jaxpr named_call xla_call core_call call closed_call shard_map run_state for"""
WORDS = """run kernel kernel_fn wrapped _wrapped unwrap attention mode apply f _f fn _fun loss reduce body mha gqa
mqa sample inner outer update at block ref_fn prof_kernel _call_vectorized"""
NO_OPERATION = re.compile(
    r"_reference|_rule$|_ref$|attention|pipeline|paged|effects|test|_jit_|^_?pjit|^print|^debug"
)


def main(pythons: list[str]) -> int:
    versions, names = [], set()
    for python in pythons:
        version, found = json.loads(subprocess.check_output([python, "-c", LIST], text=True))
        versions.append(version)
        names |= set(found)
    names -= set(f"{CONTROL} {TRANSFORMS} {WORDS}".split())
    kept = sorted(n for n in names if re.fullmatch(r"[a-z_][\w-]*", n) and not NO_OPERATION.search(n))
    table = {"made by": "scripts/list_own_operations.py", "jax": versions, "names": kept}
    TARGET.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")
    print(len(kept), "names")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
