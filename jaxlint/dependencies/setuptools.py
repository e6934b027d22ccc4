"""setup.cfg and setup.py: what setuptools was told before pyproject.toml."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from jaxlint.columns import span, split_lines
from jaxlint.dependencies.marker import normal
from jaxlint.dependencies.requirement import requirement
from jaxlint.dependencies.requirements_txt import Reader
from jaxlint.dependencies.text import DependencyText
from jaxlint.finding import Place, Span
from jaxlint.flow.facts import DependencySet, Proof, Requirement

_SECTION = re.compile(r"\[([^\]]+)\]\s*$")
_KEY = re.compile(r"([\w.-]+)\s*[=:]\s*(.*)$")
_COMMENT = re.compile(r"(^|\s)[#;].*$")
Item = tuple[str, Span]  # a requirement, and where it stands
_FILE = re.compile(r"file:\s*(\S+)\s*$")


class _Declared:
    """What a distribution asks for, always ("") and with each extra."""

    def __init__(self, text: DependencyText) -> None:
        self._text = text
        self._asked: dict[str, list[Requirement]] = {"": []}

    def add(self, extra: str, asked: str, place: Place) -> None:
        """A requirement, or a file of them. `gpu:python_version<"3.9"` is an extra with a condition."""
        name, _, condition = extra.partition(":")
        extra = normal(name)
        if condition and ";" not in asked:
            asked = f"{asked} ; {condition}"
        included = _FILE.match(asked)
        if included is not None:
            file = self._text.included(included[1], place)
            reader = Reader()
            if file is not None:
                reader.file(file)
            self._asked.setdefault(extra, []).extend(reader.requirements)
            return
        found = requirement(asked, place, group=extra)
        if found is not None:
            self._asked.setdefault(extra, []).append(found)

    def environments(self) -> list[DependencySet]:
        """One for the distribution itself, and one with each extra."""
        base = self._asked.pop("")
        every = [("", base), *((f"the extra `{e}`", [*base, *more]) for e, more in self._asked.items())]
        return [self._environment(name, members) for name, members in every if members]

    def _environment(self, name: str, requirements: Iterable[Requirement]) -> DependencySet:
        members = tuple(dict.fromkeys(requirements))
        own = next((r.place for r in members if r.place.path == self._text.path), None)
        return DependencySet(
            own or Place(self._text.path, Span(1, 1, 1, 1)), "", Proof("eager"), name, members
        )


# ---------------------------------------------------------------- setup.cfg


def read_cfg(text: DependencyText) -> list[DependencySet]:
    """`install_requires` of `[options]` and the keys of `[options.extras_require]`."""
    declared = _Declared(text)
    section = extra = ""
    takes = False
    for number, raw in enumerate(split_lines(text.text), start=1):
        line = _COMMENT.sub("", raw.rstrip("\r\n"))
        asked, column = line.strip(), len(line) - len(line.lstrip()) + 1
        if not asked:
            continue
        if not line[0].isspace():
            heading, key = _SECTION.match(line), _KEY.match(line)
            if heading is not None:
                section, takes = heading[1], False
                continue
            in_options = section == "options" and key is not None and key[1] == "install_requires"
            takes = key is not None and (in_options or section == "options.extras_require")
            if key is None or not takes:
                continue
            extra = "" if in_options else key[1]
            asked, column = key[2].strip(), key.start(2) + 1
        if takes:
            for part, at in _parts(asked, column):
                declared.add(extra, part, text.place(number, at, at + len(part)))
    return declared.environments()


def _parts(asked: str, column: int) -> Iterator[tuple[str, int]]:
    """The requirements of a line, which semicolons end where no marker follows them."""
    if asked.startswith("file:"):
        yield asked, column
        return
    for found in re.finditer(r"[^;]+(;\s*[\w.]+\s*(?:[<>=!~]=?|in\b|not\b)[^;]*)?", asked):
        part = found[0].strip()
        if part:
            yield part, column + found.start() + len(found[0]) - len(found[0].lstrip())


# ---------------------------------------------------------------- setup.py


def read_py(text: DependencyText) -> list[DependencySet]:
    """`install_requires` and `extras_require` of the call of `setup`, as far as they are written out there or
    under a name of the module. Nothing is run."""
    try:
        tree = ast.parse(text.text)
    except (SyntaxError, ValueError):
        return []
    module = _Module(tree, split_lines(text.text))
    declared = _Declared(text)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or _last_name(call.func) != "setup":
            continue
        for keyword in call.keywords:
            if keyword.arg == "install_requires":
                for asked, at in module.items(keyword.value):
                    declared.add("", asked, text.place(at.line, at.column, at.end_column))
            elif keyword.arg == "extras_require":
                for extra, (asked, at) in module.extras(keyword.value):
                    declared.add(extra, asked, text.place(at.line, at.column, at.end_column))
    return declared.environments()


class _Module:
    def __init__(self, tree: ast.Module, lines: list[str]) -> None:
        self._lines = lines
        self._bound: dict[str, ast.expr] = {}
        for node in tree.body:
            if isinstance(node, ast.Assign):
                self._bound.update({t.id: node.value for t in node.targets if isinstance(t, ast.Name)})
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self._bound[node.target.id] = node.value

    def items(self, node: ast.expr, depth: int = 4) -> Iterator[Item]:
        """The texts of a list, tuple or sum of those; of one text, its lines."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from self._lines_of(node, node.value)
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("split", "splitlines"):
            yield from self.items(node.func.value, depth)  # type: ignore[attr-defined]  # the callee is an attribute, as just tested
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set)) and depth:
            for item in node.elts:
                yield from self.items(item.value if isinstance(item, ast.Starred) else item, depth - 1)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
            yield from self.items(node.left, depth)
            yield from self.items(node.right, depth)
        elif isinstance(node, ast.Name) and node.id in self._bound and depth:
            yield from self.items(self._bound[node.id], depth - 1)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and depth:
            for extra, asked in self.extras(node.value, depth - 1):
                if extra == node.slice.value:
                    yield asked

    def extras(self, node: ast.expr, depth: int = 4) -> Iterator[tuple[str, Item]]:
        """(extra, requirement) pairs of a dict."""
        if isinstance(node, ast.Name) and node.id in self._bound and depth:
            yield from self.extras(self._bound[node.id], depth - 1)
        for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from ((key.value, item) for item in self.items(value, depth))

    def _lines_of(self, node: ast.expr, content: str) -> Iterator[Item]:
        """What stands in a text, line by line; where that runs over several lines, each at its own."""
        lines = [line.strip() for line in content.split("\n")]
        at = span(node, self._lines)
        for number, line in enumerate(lines):
            where = at
            if at.end_line - at.line == len(lines) - 1 > 0:
                row = self._lines[at.line - 1 + number].rstrip("\r\n")
                where = Span(at.line + number, 1, at.line + number, len(row) + 1)
            if line and not line.startswith("#"):
                yield line, where


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
