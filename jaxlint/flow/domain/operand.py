"""From abstract values to the operands that facts carry."""

from __future__ import annotations

import ast
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.domain.closures import Closure, PartialApi
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import (
    API,
    BOUNDARY,
    CONCRETE,
    CONSTANT,
    FACT_KINDS,
    FOREIGN,
    FUNCTION,
    INSTANCE,
    ONE_OF,
    PARTIAL,
    SCALAR,
    SHAPE,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.lengthened import Lengthened
from jaxlint.flow.domain.objects import Foreign, Instance
from jaxlint.flow.domain.sizes import is_small
from jaxlint.flow.domain.tags import FRESH, GROWN, MEMBER, SMALL, ZERO_DIM
from jaxlint.flow.domain.values import Choices, Origin, Value, is_number
from jaxlint.flow.facts import Kind, Operand, Tag, Varies
from jaxlint.flow.frame import Frame
from jaxlint.index.written_names import dotted_name

_LEAVES = 24
_DEPTH = 4
_ALL_TAGS = sum(int(t) for t in Tag)


def operand(
    frame: Frame,
    node: ast.AST,
    value: Value,
    *,
    parameter: str | None = None,
    index: int | None = None,
    keyword: bool = False,
    path: str = "",
    depth: int = 0,
    static_field: bool = False,
) -> Operand:
    """What a fact says of a value at a use."""
    origin = value.origin
    tags = value.tags & _ALL_TAGS
    if is_small(value):
        tags |= SMALL
    if value.size == 1 or is_number(value):
        tags |= ZERO_DIM
    fresh = fresh_word(frame, value)
    where = frame.place(node)
    kind = FACT_KINDS[value.kind]
    if value.kind == ONE_OF and any(each.kind == INSTANCE for each in value.data):
        kind = Kind.OTHER
    if (
        kind is Kind.TREE
        and origin is not None
        and origin.word in ("list", "dict", "set", "tuple", "generator")
    ):
        word = origin.word
    else:
        word = fresh[0] if fresh else origin.word if origin is not None else ""
    source = fresh[1] if fresh else origin
    if origin is not None and isinstance(origin.extra, Lengthened) and not tags & GROWN:
        source = origin.extra.made or source
    if fresh:
        tags |= FRESH
    return Operand(
        place=where,
        kind=kind,
        varies=Varies(value.varies),
        tags=Tag(tags),
        name=dotted_name(node),
        parameter=parameter,
        index=index,
        keyword=keyword,
        constant=value.data if value.kind == CONSTANT and _plain(value.data) else None,
        origin=source.module.place(source.node)
        if source is not None and hasattr(source.node, "lineno")
        else None,
        origin_kind=word,
        path=path,
        leaves=tuple(_leaves(frame, node, value, path, depth)),
        class_name=class_name(value),
        hashing=hashing(value),
        fresh_in=freshness(frame, value.data) if fresh else "",
        made_in=maker(value.data) if fresh else "",
        static_field=static_field,
        **_choices(value),
    )


def _choices(value: Value) -> dict[str, Any]:
    """What a loop variable takes in turn, and where that is written."""
    extra = value.data if value.kind == SCALAR else origin.extra if (origin := value.origin) else None
    if not isinstance(extra, Choices):
        return {}
    return {
        "choices": tuple([_told_apart(v) for v in extra.members]),
        "rows": extra.rows,
        "written": tuple([_written(v) for v in extra.members]),
    }


def _told_apart(value: Value) -> object:
    if value.kind == CONSTANT:
        return value.data if _plain(value.data) else repr(value.data)
    return value.data if value.kind == API else f"object {id(value.data)}"


def _written(value: Value) -> Place | None:
    origin = value.origin
    return origin.module.place(origin.node) if origin is not None and hasattr(origin.node, "lineno") else None


def _plain(data: object) -> bool:
    return data is None or isinstance(data, (bool, int, float, str))


def _leaves(frame: Frame, node: ast.AST, value: Value, path: str, depth: int) -> list[Operand]:
    if depth >= _DEPTH:
        return []
    found: list[Operand] = []
    static = value.data.cls.all_static_fields() if value.kind == INSTANCE else frozenset()
    for step, at, member in members(node, value)[:_LEAVES]:
        of_structure = bool(static) and step[1:] in static
        found.append(operand(frame, at, member, path=path + step, depth=depth + 1, static_field=of_structure))
    return found


def members(node: ast.AST, value: Value) -> list[tuple[str, ast.AST, Value]]:
    """(path step, node, value) of the members of a container or the fields of an instance."""
    if value.kind == TREE:
        if value.data.__class__ is list:
            items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else []
            exact = len(items) == len(value.data)
            return [(f"[{i}]", items[i] if exact else node, v) for i, v in enumerate(value.data)]
        if value.data.__class__ is dict:
            at: dict[object, ast.AST] = {}
            if isinstance(node, ast.Dict):
                at = {
                    k.value: v
                    for k, v in zip(node.keys, node.values, strict=True)
                    if isinstance(k, ast.Constant)
                }
            return [(f"[{k!r}]", at.get(k, node), v) for k, v in value.data.items()]
        return [("[...]", node, value.element)] if value.element is not None else []
    if value.kind == FOREIGN and value.element is not None:
        return [(f".{k}", node, v) for k, v in value.element.data.items()]
    if value.kind == INSTANCE:
        return [(f".{k}", node, v) for k, v in value.data.fields.items()]
    return []


def class_name(value: Value) -> str:
    """The dotted name of the class of an instance, or of the maker of a library object."""
    if value.kind == INSTANCE:
        return str(value.data.cls.qualname)
    if value.kind == FOREIGN:
        return str(value.data.api)
    return ""


def fresh_word(frame: Frame, value: Value) -> tuple[str, Origin] | None:
    """("lambda", origin) when the value is an object made anew where the frame stands."""
    kind = value.kind
    if kind not in (FUNCTION, INSTANCE, FOREIGN, PARTIAL):
        return None
    thing: Closure | Instance | Foreign | PartialApi = value.data
    if not freshness(frame, thing):
        return None
    if isinstance(thing, Closure):
        return closure_word(thing), Origin(thing.function.module, thing.node, "")
    if isinstance(thing, Instance):
        return "instance", Origin(frame.module if thing.home is None else thing.home.module, thing.node, "")
    if isinstance(thing, PartialApi):
        return "partial", Origin(frame.module, thing.node, "")
    word = "optimizer" if thing.api.startswith("optax.") else "object"
    return word, Origin(frame.module if thing.home is None else thing.home.module, thing.node, "")


def maker(thing: Closure | Instance | Foreign | PartialApi) -> str:
    """The qualified name of the function that makes a thing, "" at module level."""
    home = thing.home
    return home.function.qualname if home is not None and home.function is not None else ""


def closure_word(closure: Closure) -> str:
    """What makes a closure another object than last time."""
    if closure.via:
        return closure.via
    if closure.transforms:
        return "transform of a function"
    if closure.receiver is not None:
        return "bound method"
    return "lambda" if closure.function.is_lambda else "nested function"


def hashing(value: Value) -> str:
    """How a jit cache keys the value at a static position."""
    kind = value.kind
    if kind in CONCRETE:
        return "" if value.tags & MEMBER else "unhashable"
    if kind == CONSTANT:
        return "value"
    if kind == SCALAR or kind == SHAPE:
        return "value"
    if kind == TREE:
        word = value.origin.word if value.origin is not None else ""
        if word in ("list", "dict", "set"):
            return "unhashable"
        if word == "tuple" and value.data.__class__ is list:
            return _worst([hashing(v) for v in value.data])
        return ""
    if kind == INSTANCE:
        return str(value.data.cls.hashing)
    if kind == FUNCTION:
        receiver = value.data.receiver
        if receiver is None or value.data.via:
            return "identity"
        return str(receiver.data.cls.hashing) if receiver.kind == INSTANCE else "value"
    if kind == FOREIGN:
        return "identity" if value.data.api.startswith("optax.") else ""
    if kind in (PARTIAL, BOUNDARY):
        return "identity"
    if kind == UNKNOWN and value.origin is not None and value.origin.word == "slice":
        return "unhashable"  # before Python 3.12
    return ""


def _worst(words: list[str]) -> str:
    for word in ("unhashable", "identity", ""):
        if word in words:
            return word
    return "value"
