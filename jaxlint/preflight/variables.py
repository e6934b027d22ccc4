"""Environment variables that a project's files set: shell scripts, containers, CI, and `os.environ` in Python."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxlint.project import walk
from jaxlint.project.files import shown
from jaxlint.project.root import Project

_FILES = re.compile(
    r"(?i)(?:Dockerfile|Containerfile)[\w.-]*|[\w.-]*\.(?:dockerfile|sh|bash|zsh|slurm|sbatch|pbs|envrc)|\.envrc"
    r"|\.env(?:\.[\w.-]+)?|[\w.-]+\.env|[\w.-]*compose[\w.-]*\.ya?ml|[\w.-]+\.ya?ml|Makefile|justfile|tox\.ini"
    r"|pytest\.ini|setup\.cfg|pyproject\.toml"
)
_SET = re.compile(
    r"(?:^|[\s;\"'{(,&]|export |ENV |-e |--env[ =])"
    r"(?P<name>(?:XLA|JAX|TF_GPU|CUDA_VISIBLE)_?[A-Z0-9_]+)"
    r"[\"']?(?:\s*[=:]\s*|[ ](?=\S))[\"']?(?P<value>[^\s\"'#;,}]+)"
)
_LARGEST = 1 << 20  # bytes of a file that is read
_COMMENT = ("#", "//")


class Assignment(NamedTuple):
    """A variable, the value it gets and where. `value` is "" where it is not a literal."""

    name: str
    value: str
    place: str


def in_files(project: Project, directories: Iterable[str]) -> list[Assignment]:
    """What the files of a project set that are no Python; without a root, those in these directories."""
    if project.root:
        paths = list(walk.python_files(project.root, project.excluded, also=_may_set))
    else:
        paths = [os.path.join(d, name) for d in directories for name in sorted(os.listdir(d))]
    return [
        a for path in paths if not path.endswith(walk.SUFFIXES) and _may_set(path) for a in _in_file(path)
    ]


def _may_set(path: str) -> bool:
    return bool(_FILES.fullmatch(os.path.basename(path)))


def _in_file(path: str) -> Iterator[Assignment]:
    try:
        with open(path, "rb") as file:
            text = file.read(_LARGEST).decode("utf-8", errors="replace")
    except OSError:
        return
    if "XLA_" not in text and "JAX_" not in text:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(_COMMENT):
            continue
        for match in _SET.finditer(line):
            yield Assignment(match["name"], match["value"], f"{shown(path)}:{number}")


def in_modules(modules: Iterable[tuple[str, ast.Module]]) -> Iterator[Assignment]:
    """`os.environ[...] = ...`, `os.environ.setdefault(...)` and `os.putenv(...)`."""
    for path, tree in modules:
        for node in ast.walk(tree):
            for name, value in _set_by(node):
                if isinstance(name, ast.Constant) and isinstance(name.value, str):
                    literal = value.value if isinstance(value, ast.Constant) else ""
                    yield Assignment(name.value, str(literal), f"{path}:{getattr(node, 'lineno', 1)}")


def _set_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and _is_environ(target.value):
                yield target.slice, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from _set_by_call(node, node.func.value, node.func.attr)


def _set_by_call(call: ast.Call, owner: ast.expr, method: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    if len(call.args) == 2:
        if (method == "setdefault" and _is_environ(owner)) or (method == "putenv" and _named(owner, "os")):
            yield call.args[0], call.args[1]
    elif method == "update" and _is_environ(owner):
        for argument in call.args:
            if isinstance(argument, ast.Dict):
                yield from ((k, v) for k, v in zip(argument.keys, argument.values, strict=True) if k)
        yield from ((ast.Constant(k.arg), k.value) for k in call.keywords if k.arg)


def _is_environ(node: ast.expr) -> bool:
    return _named(node, "environ") or (isinstance(node, ast.Attribute) and node.attr == "environ")


def _named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
