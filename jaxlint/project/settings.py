"""Settings: the nearest `pyproject.toml` with a table [tool.jaxlint], or `jaxlint.toml`. Nothing cascades."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from jaxlint.finding import Confidence, Severity
from jaxlint.project import setting_values as values
from jaxlint.project import toml
from jaxlint.project.setting_values import Convert
from jaxlint.record import record, replace

PYPROJECT = "pyproject.toml"
OWN_FILE = "jaxlint.toml"
TABLE = "tool.jaxlint"

DEFAULT_EXCLUDE = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".jaxlint_cache", ".mypy_cache", ".nox",
    ".pixi", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__",
    "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip

_NOTHING: Mapping[str, Any] = {}


class SettingsError(Exception):
    """Settings that cannot be used. The text is one line that names the file."""

    def __init__(self, message: str, *, unknown_key: bool = False) -> None:
        super().__init__(message)
        self.unknown_key = unknown_key


@record
class Settings:
    """What a project asks for. Selectors are codes, beginnings of codes, slugs or ALL.

    `min_severity` is None where nothing was asked for: the command line then shows everything, flake8
    warnings and errors. `jobs` is 0 for one per processor. `cache_dir` is absolute, "" for the default,
    and so is `baseline`, "" for none.
    Versions are None where they are to be found out. `confirm` is kept as it was written.
    """

    file: str = ""
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    preview: bool = False
    min_severity: Severity | None = None
    min_confidence: Confidence = Confidence.LOW
    fail_on: Severity = Severity.WARNING
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    per_file_ignores: Mapping[str, tuple[str, ...]] = _NOTHING
    severity: Mapping[str, Severity] = _NOTHING
    kind: str = ""
    jax_version: tuple[int, ...] | None = None
    equinox_version: tuple[int, ...] | None = None
    flax_version: tuple[int, ...] | None = None
    jobs: int = 0
    cache_dir: str = ""
    output_format: str = "full"
    baseline: str = ""
    confirm: Mapping[str, Any] = _NOTHING


_KEYS: dict[str, Convert] = {
    "select": values.strings,
    "ignore": values.strings,
    "extend-select": values.strings,
    "preview": values.boolean,
    "min-severity": values.severity,
    "min-confidence": values.confidence,
    "fail-on": values.severity,
    "exclude": values.strings,
    "extend-exclude": values.strings,
    "force-exclude": values.boolean,
    "per-file-ignores": values.strings_by_name,
    "severity": values.severity_by_name,
    "kind": values.kind,
    "jax-version": values.version,
    "equinox-version": values.version,
    "flax-version": values.version,
    "jobs": values.jobs,
    "cache-dir": values.text,
    "output-format": values.output_format,
    "baseline": values.text,
    "confirm": values.table,
}


def find(directory: str, known: dict[str, str | None] | None = None) -> str | None:
    """The settings file that holds for a directory (absolute): in it or nearest above it. Raises TomlError.

    `known` are the answers for directories so far; it is filled.
    """
    known = {} if known is None else known
    if directory not in known:
        parent = os.path.dirname(directory)
        known[directory] = _here(directory) or (find(parent, known) if parent != directory else None)
    return known[directory]


def load(path: str) -> Settings:
    """The settings of a file. Raises SettingsError or TomlError."""
    document = toml.load(path)
    where = path
    if os.path.basename(path) == PYPROJECT:
        document = _tool(document).get("jaxlint", {})
        where = f"{path}: [{TABLE}]"
        if not isinstance(document, dict):
            raise SettingsError(f"{where} must be a table")
    return from_table(document, path, where)


def from_table(document: Mapping[str, Any], path: str, where: str) -> Settings:
    """The settings that a table makes. `where` begins the messages. Raises SettingsError."""
    found: dict[str, Any] = {}
    for key, value in document.items():
        convert = _KEYS.get(key)
        if convert is None:
            raise SettingsError(f"{where}: unknown key `{key}`{_hint(key)}", unknown_key=True)
        try:
            found[key.replace("-", "_")] = convert(value)
        except values.WrongValue as error:
            raise SettingsError(f"{where}: `{key}` {error}") from None
    settings = Settings(file=path, **found)
    return replace(
        settings,
        cache_dir=_beside(path, settings.cache_dir),
        baseline=_beside(path, settings.baseline),
    )


def _beside(path: str, named: str) -> str:
    """What a settings file names, seen from its own directory, as an absolute path; "" stays."""
    return os.path.normpath(os.path.join(os.path.dirname(path), os.path.expanduser(named))) if named else ""


def as_table(settings: Settings) -> dict[str, Any]:
    """The settings as a settings file would give them; those that are open are not there."""
    table = {key: getattr(settings, key.replace("-", "_")) for key in _KEYS}
    for key in ("jax-version", "equinox-version", "flax-version"):
        table[key] = ".".join(map(str, table[key] or ()))
    return {key: value for key, value in table.items() if value not in (None, "")}


def _here(directory: str) -> str | None:
    own = os.path.join(directory, OWN_FILE)
    if os.path.isfile(own):
        return own
    shared = os.path.join(directory, PYPROJECT)
    return shared if _has_table(shared) else None


def _has_table(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            mentioned = b"jaxlint" in file.read()
    except OSError:
        return False
    # Most projects' files do not name us, and then the cost of a TOML parser is spared.
    return mentioned and "jaxlint" in _tool(toml.load(path))


def _tool(document: Mapping[str, Any]) -> Mapping[str, Any]:
    tool = document.get("tool", {})
    return tool if isinstance(tool, dict) else {}


def _hint(key: str) -> str:
    if key == "tool":
        return f", the keys of {OWN_FILE} stand at its top, without [{TABLE}]"
    from difflib import get_close_matches

    near = get_close_matches(key.replace("_", "-"), _KEYS, n=1)
    return f", did you mean `{near[0]}`?" if near else f", known keys are {', '.join(_KEYS)}"
