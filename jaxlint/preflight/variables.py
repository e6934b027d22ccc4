"""Environment variables that a project's files set: shell and job scripts, containers, CI, and `os.environ` in
Python. Scripts are known by their names, and those without an ending by their first line."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxlint.preflight import shell
from jaxlint.project import walk
from jaxlint.project.files import shown
from jaxlint.project.root import Project

_FILES = re.compile(
    r"(?i)(?:Dockerfile|Containerfile)[\w.-]*|[\w.-]*\.(?:dockerfile|envrc|service)|\.envrc|(?:launch|devcontainer)\.json"
    r"|[\w.-]*\.(?:sh|bash|zsh|ksh|csh|fish|slurm|sbatch|job|sub|pbs|qsub|lsf|bsub)"
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
_DIRECTIVE = ("#SBATCH", "#PBS", "#BSUB", "#$ ", "#QSUB")  # comments to the shell, orders to the scheduler
PREFIXES = ("XLA_", "JAX_", "TF_GPU_", "CUDA_VISIBLE")


class Assignment(NamedTuple):
    """A variable, the value it gets and where. `value` is "" where it is not a literal."""

    name: str
    value: str
    place: str


def in_files(project: Project, given: Iterable[str]) -> list[Assignment]:
    """What the files of a project set that are no Python, and those below the paths that were given."""
    return [assignment for path in scripts(project, given) for assignment in _in_file(path)]


def scripts(project: Project, given: Iterable[str]) -> list[str]:
    """The files of a project, and of the paths that were given, that may set variables and are no Python."""
    directories = [path if os.path.isdir(path) else os.path.dirname(path) for path in given]
    tops = [project.root, *map(os.path.realpath, directories)]
    paths = dict.fromkeys(
        path
        for top in dict.fromkeys(filter(None, tops))
        for path in walk.python_files(top, project.excluded, also=_may_set)
        if not path.endswith(walk.SUFFIXES) and _may_set(path)
    )
    return list(paths)


def _may_set(path: str) -> bool:
    name = os.path.basename(path)
    return bool(_FILES.fullmatch(name)) or ("." not in name and _is_script(path))


def _is_script(path: str) -> bool:
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"sh" in first


def text_of(path: str) -> str:
    """The beginning of a file, "" where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(_LARGEST).decode("utf-8", errors="replace")
    except OSError:
        return ""


def _in_file(path: str) -> Iterator[Assignment]:
    text = text_of(path)
    if not any(prefix in text for prefix in PREFIXES):
        return
    for number, line in working_lines(text):
        for match in _SET.finditer(line):
            if not shell.is_printed(line, match.start("name")):
                yield Assignment(match["name"], match["value"], f"{shown(path)}:{number}")


def working_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a script with their numbers, without comments and without documents that are only shown."""
    document = ""
    for number, line in enumerate(text.splitlines(), 1):
        start = line.lstrip()
        if document:
            document = "" if start.rstrip() == document else document
        elif start.startswith(_DIRECTIVE):
            yield number, line
        elif not start.startswith(_COMMENT):
            document = shell.shown_document(line)
            yield number, shell.without_comment(line)


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
