"""What takes few values, whoever passes it: members of an enum, a literal type, a bool, a dtype."""

from __future__ import annotations

import re

from jaxlint.flow.domain.functions import Function
from jaxlint.flow.domain.kinds import CLASS
from jaxlint.flow.domain.values import Value
from jaxlint.flow.program import LoadedModule, Program

_CLOSED = re.compile(
    r"(typing\.|typing_extensions\.|t\.)?Literal\[.*\]|bool|type|(\w+\.)*(dtype|DTypeLike|DType)"
)
_OPTIONAL = re.compile(r"\s*(?:typing\.)?Optional\[(.*)\]\s*", re.DOTALL)


def is_one_of_few(program: Program, function: Function, parameter: str) -> bool:
    """Whether the annotation of a parameter leaves it few values."""
    text = function.annotations.get(parameter)
    return text is not None and _names_few(program, function.module, text)


def _names_few(program: Program, module: LoadedModule, text: str) -> bool:
    optional = _OPTIONAL.fullmatch(text)
    text = (optional[1] if optional else text).strip("'\" ")
    if _CLOSED.fullmatch(text):
        return True
    members = [part.strip() for part in text.split("|") if part.strip() != "None"]
    if len(members) > 1 or members != [text]:
        return bool(members) and all(_names_few(program, module, part) for part in members)
    return is_enum(program.named(module, text))


def is_enum(value: Value | None) -> bool:
    """An enum of the project."""
    return value is not None and value.kind == CLASS and value.data.family == "enum"
