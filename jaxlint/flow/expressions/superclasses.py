"""`super()`: the same object, asked for what the classes behind the one in which it is written have."""

from __future__ import annotations

import ast
import re

from jaxlint.flow.domain.classes import ClassInfo
from jaxlint.flow.domain.kinds import CLASS, INSTANCE
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.frame import Call, Frame

_DEPTH = 6  # so many generations are looked at
_LETTERS = 3  # a text with fewer letters could mean any method


def super_of(frame: Frame, call: Call) -> Value:
    """`super()` in a method, or `super(Cls, self)`: the object with the class it is written in as `element`."""
    written, receiver = frame.cls, None
    if len(call.positional) == 2 and call.positional[0].kind == CLASS:
        written, receiver = call.positional[0].data, call.positional[1]
    elif not call.positional and frame.function is not None and frame.function.params:
        receiver = frame.names.get(frame.function.params[0])
    if written is None or receiver is None or receiver.kind not in (INSTANCE, CLASS):
        return UNKNOWN_VALUE
    return _seen_from(receiver, Value(CLASS, data=written))


def inherited(frame: Frame, asked: Value, node: ast.Attribute) -> Value:
    """`super().name`: a method bound to the object, or a class attribute."""
    # Not at the top: binding methods is what attributes do.
    from jaxlint.flow.expressions.attributes import bound_method

    assert asked.element is not None  # what `super_of` made
    receiver = _seen_from(asked, None)
    own: ClassInfo = asked.data.cls if asked.kind == INSTANCE else asked.data
    for cls in _behind(own, asked.element.data):
        method = cls.methods.get(node.attr)
        if method is not None:
            return bound_method(frame, method, receiver, node)
        found = cls.attributes.get(node.attr)
        if found is not None:
            return found
    return UNKNOWN_VALUE


def methods_spelled(owner: Value, text: ast.expr) -> list[str]:
    """The methods that `getattr(self, f"_loss_{kind}")` may mean; none where the text says little."""
    if owner.kind != INSTANCE or not isinstance(text, ast.JoinedStr):
        return []
    written = [str(part.value) if isinstance(part, ast.Constant) else None for part in text.values]
    if sum(char.isalpha() for piece in written for char in piece or "") < _LETTERS:
        return []
    pattern = re.compile("".join(r"\w+" if piece is None else re.escape(piece) for piece in written))
    names = dict.fromkeys(name for cls in _order(owner.data.cls) for name in cls.methods)
    return [name for name in names if pattern.fullmatch(name)]


def _seen_from(value: Value, written: Value | None) -> Value:
    return Value(value.kind, value.varies, value.tags, value.data, written, value.origin)


def _behind(own: ClassInfo, written: ClassInfo) -> list[ClassInfo]:
    """The classes after `written` in the order in which Python looks methods of `own` up."""
    order = _order(own)
    return order[order.index(written) + 1 :] if written in order else _order(written)[1:]


def _order(cls: ClassInfo, depth: int = 0) -> list[ClassInfo]:
    """Depth first; what is reached twice comes last, as in the orders that Python makes of diamonds."""
    reached = [cls]
    for base in cls.bases if depth < _DEPTH else ():
        reached += _order(base, depth + 1)
    return list(reversed(dict.fromkeys(reversed(reached))))
