"""What a run of --confirm is asked for: the table [tool.jaxlint.confirm], and the command line above it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from jaxlint.project.settings import Settings, SettingsError
from jaxlint.record import record, replace

MIB = 1 << 20
GIB = 1 << 30
_SEPARATOR = ":"  # in the names of functions, "pkg.mod:function", and in no setting


@record
class Inputs:
    """The arguments of a function as settings give them: "f32[8,128]", "key[]", "pkg.mod:factory", literals."""

    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = {}


@record
class Options:
    """What to measure with, and from when on a difference counts.

    `timeout` in seconds, for one request to the worker. A saving of memory is confirmed if it is at least
    `min_bytes` and at least the share `min_share` of what the code takes as written; on a CUDA device that is not
    there at least `min_bytes_cuda`, because the library kernels chosen without it differ by as much.
    """

    python: str = ""
    targets: tuple[str, ...] = ("auto",)
    record_file: str = ""
    timeout: float = 60.0
    memory_limit: int = 8 * GIB
    min_bytes: int = MIB
    min_bytes_cuda: int = 64 * MIB
    min_share: float = 0.05
    inputs: Mapping[str, Inputs] = {}


def options_of(settings: Settings, args: Namespace) -> Options:
    """The options of a project. Raises SettingsError."""
    options = from_table(settings.confirm, settings.file)
    given: dict[str, Any] = {}
    if args.python is not None:
        given["python"] = args.python
    if args.target:
        given["targets"] = tuple(dict.fromkeys(args.target))
    if args.record is not None:
        given["record_file"] = os.path.abspath(args.record)
    if args.timeout is not None:
        given["timeout"] = args.timeout
    return replace(options, **given)


def from_table(table: Mapping[str, Any], path: str) -> Options:
    """The options that the settings file `path` gives. Raises SettingsError."""
    where = f"{path}: [tool.jaxlint.confirm]"
    inputs: dict[str, Inputs] = {}
    found: dict[str, Any] = {}
    for key, value in table.items():
        if _SEPARATOR in key:
            inputs[key] = _inputs(f"{where}: `{key}`", value)
            continue
        if key not in _KEYS:
            hint = ", functions are written `pkg.mod:function`" if "." in key else ""
            raise SettingsError(f"{where}: unknown key `{key}`{hint}, known keys are {', '.join(_KEYS)}")
        name, convert = _KEYS[key]
        try:
            found[name] = convert(value)
        except (TypeError, ValueError) as error:
            raise SettingsError(f"{where}: `{key}` {error}") from None
    for name in ("python", "record_file"):
        if found.get(name) and os.sep in found[name]:
            found[name] = os.path.join(os.path.dirname(path), os.path.expanduser(found[name]))
    return Options(inputs=inputs, **found)


def _inputs(where: str, value: Any) -> Inputs:
    known = {"args", "kwargs"}
    if not isinstance(value, dict) or not set(value) <= known:
        raise SettingsError(f"{where} must be a table with `args` and `kwargs`")
    args, kwargs = value.get("args", []), value.get("kwargs", {})
    if not isinstance(args, list) or not isinstance(kwargs, dict):
        raise SettingsError(f"{where}: `args` must be a list and `kwargs` a table")
    return Inputs(tuple(args), kwargs)


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a string")
    return value


def _targets(value: Any) -> tuple[str, ...]:
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not listed or not all(isinstance(item, str) for item in listed):
        raise ValueError('must be a target such as "cuda:h100", or a list of them')
    return tuple(listed)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        raise ValueError("must be a number from 0")
    return float(value)


def _bytes(value: Any) -> int:
    return int(_number(value))


def _gibibytes(value: Any) -> int:
    return int(_number(value) * GIB)


_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "python": ("python", _text),
    "target": ("targets", _targets),
    "record": ("record_file", _text),
    "timeout": ("timeout", _number),
    "memory-limit": ("memory_limit", _gibibytes),
    "min-bytes": ("min_bytes", _bytes),
    "min-bytes-cuda": ("min_bytes_cuda", _bytes),
    "min-share": ("min_share", _number),
}
