"""Which fixes leave the texts of a program as they are: its strings, and what `f"{x=}"` prints of its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint import columns
from jaxlint.finding import Applicability, Finding, Fix, Span
from jaxlint.record import replace

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.focus import Focus

# The parts of a template string know the source that they were written as.
_TEMPLATE: type[ast.AST] | None = getattr(ast, "TemplateStr", None)


def sparing_texts(finding: Finding, focus: Focus) -> Finding:
    """The finding with its fix, if that has no edit within a string; what changes a field that prints its own
    source is only shown."""
    fix = finding.fix
    if fix is None or not fix.edits:
        return finding
    answers = {
        _kind(edit.span, string, node, focus) for string, node in _strings(focus) for edit in fix.edits
    }
    if None in answers:
        return replace(finding, fix=None)
    if Applicability.DISPLAY in answers:
        return replace(finding, fix=Fix(fix.title, Applicability.DISPLAY, fix.edits))
    return finding


def _strings(focus: Focus) -> Iterator[tuple[Span, ast.expr]]:
    """Each string that is in no other, and where it stands."""
    waiting: list[ast.AST] = [focus.tree]
    while waiting:
        node = waiting.pop()
        whole = isinstance(node, ast.JoinedStr) or (_TEMPLATE is not None and isinstance(node, _TEMPLATE))
        text = isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
        if isinstance(node, ast.expr) and (whole or text):
            yield columns.span(node, focus.lines), node
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _kind(edit: Span, string: Span, node: ast.expr, focus: Focus) -> Applicability | None:
    """What an edit may be as far as a string goes: None for nothing at all."""
    if _leaves(edit, string):
        return Applicability.SAFE
    if not isinstance(node, ast.JoinedStr):
        return None
    parsed = focus.node(string)
    return _within(edit, parsed, focus) if parsed is not None else None


def _leaves(edit: Span, string: Span) -> bool:
    """Whether an edit is beside a string, or takes all of it."""
    begin, end = edit[:2], edit[2:]
    return end <= string[:2] or begin >= string[2:] or (begin <= string[:2] and end >= string[2:])


def _within(edit: Span, string: cst.CSTNode, focus: Focus) -> Applicability | None:
    """The same for an edit that touches an f-string: in its fields it stands in code, which may hold strings."""
    import libcst as cst

    kind: Applicability | None = None
    waiting = [string]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (cst.FormattedString, cst.SimpleString)) and not _leaves(edit, focus.span(node)):
            kind = None
        elif isinstance(node, cst.FormattedStringExpression) and _contains(focus.span(node), edit):
            if node.equal is not None:
                return Applicability.DISPLAY
            if not _contains(focus.span(node.expression), edit):
                return None
            kind, waiting = Applicability.SAFE, [node.expression]
            continue
        waiting.extend(node.children)
    return kind


def _contains(outer: Span, inner: Span) -> bool:
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]
