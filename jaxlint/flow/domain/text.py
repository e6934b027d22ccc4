"""Text whose content is known, the module's own name among it: `f"{__name__}.LIMIT"`."""

from __future__ import annotations

from collections.abc import Iterable

from jaxlint.flow.domain.kinds import CONSTANT, UNKNOWN
from jaxlint.flow.domain.tags import TEXT
from jaxlint.flow.domain.values import TEXT_VALUE, UNKNOWN_VALUE, Origin, Value, collection, tree
from jaxlint.flow.frame import Call, Frame

_KNOWN = "known text"


def own_name(frame: Frame) -> Value:
    """`__name__`. No constant: a module that is run as a script has another, which `if __name__ == …` asks for."""
    return _named(frame, frame.module.entry.name)


def spelled(value: Value | None) -> str | None:
    """The characters of a text, where they are known."""
    if value is None:
        return None
    if value.kind == CONSTANT:
        return value.data if isinstance(value.data, str) else None
    origin = value.origin
    return origin.extra if value.kind == UNKNOWN and origin is not None and origin.word == _KNOWN else None


def put_together(frame: Frame, parts: Iterable[Value], between: str = "") -> Value | None:
    """One text of several, None where one of them is not known."""
    values = list(parts)
    texts = [text for value in values if (text := spelled(value)) is not None]
    if len(texts) < len(values):
        return None
    whole = between.join(texts)
    own = any(value.kind == UNKNOWN for value in values)
    return _named(frame, whole) if own else Value(CONSTANT, data=whole)


def known(frame: Frame, value: Value) -> Value:
    """A text that code puts together: no constant of the source, but its characters are known."""
    return _named(frame, value.data) if value.kind == CONSTANT else value


def filled_in(frame: Frame, template: str, gap: str, values: list[Value]) -> Value | None:
    """`"{}.LIMIT".format(…)` and `"%s.LIMIT" % …`: a template with plain gaps alone."""
    pieces = template.split(gap)
    if len(pieces) != len(values) + 1 or any(set(piece) & set("{}%") for piece in pieces):
        return None
    parts = [Value(CONSTANT, data=pieces[0])]
    for value, piece in zip(values, pieces[1:], strict=True):
        parts += [value, Value(CONSTANT, data=piece)]
    return put_together(frame, parts)


TAKING_APART = frozenset({"split", "rsplit", "splitlines"})
_TO_ANOTHER = frozenset(
    {
        "casefold",
        "expandtabs",
        "lower",
        "lstrip",
        "removeprefix",
        "removesuffix",
        "replace",
        "rstrip",
        "strip",
    }
    | {"swapcase", "title", "upper"}
)


def of_known(frame: Frame, content: str, name: str, call: Call) -> Value | None:
    """What a method makes of a text that is known: the words of it, or another text."""
    if name in TAKING_APART:
        return taken_apart(frame, content, name, call)
    given = [value.data for value in call.positional if value.kind == CONSTANT]
    if name not in _TO_ANOTHER or call.keywords or len(given) < len(call.positional):
        return None
    try:
        return _named(frame, getattr(content, name)(*given))
    except (TypeError, ValueError):
        return None  # Python's own error


def taken_apart(frame: Frame, content: str, name: str, call: Call) -> Value:
    """`"KLM AC".split()`: the words of a text that is known."""
    origin = Origin(frame.module, call.node, "list")
    given = [value.data for value in call.positional if value.kind == CONSTANT]
    if call.keywords or len(given) < len(call.positional):
        return collection(TEXT_VALUE, origin)
    try:
        words = getattr(content, name)(*given)
    except (TypeError, ValueError):
        return UNKNOWN_VALUE  # Python's own error
    return tree([Value(CONSTANT, data=word) for word in words], origin)


def _named(frame: Frame, text: str) -> Value:
    return Value(UNKNOWN, 0, TEXT, None, None, Origin(frame.module, frame.module.tree, _KNOWN, text))
