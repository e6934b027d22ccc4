"""Looks up dotted names in the installed libraries, in one process, since importing them takes seconds.

Reads a JSON list of names on standard input and prints {"versions": {distribution: version}, "names": {name:
null where there is none, else [parameters that may be passed by position, all parameters]}}. What has no
signature has no parameters.
"""

import importlib
import importlib.metadata
import inspect
import json
import sys
import warnings

_DISTRIBUTIONS = {
    "haiku": "dm-haiku",
    "jax_dataclasses": "jax-dataclasses",
    "orbax": "orbax-checkpoint",
}
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def main() -> None:
    warnings.simplefilter("ignore")
    names = json.load(sys.stdin)
    versions = {}
    for library in sorted({name.partition(".")[0] for name in names}):
        try:
            importlib.import_module(library)
            versions[library] = importlib.metadata.version(_DISTRIBUTIONS.get(library, library))
        except (ImportError, importlib.metadata.PackageNotFoundError):
            continue
    found = {name: look_up(name) for name in names if name.partition(".")[0] in versions}
    print(json.dumps({"versions": versions, "names": found}))


def look_up(name: str) -> "list[list[str]] | None":
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        try:
            for part in parts[end:]:
                thing = getattr(thing, part)
        except AttributeError:
            return None
        return parameters(thing)
    return None


def parameters(thing: object) -> "list[list[str]]":
    try:
        found = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]  # whatever bears the name
    except (TypeError, ValueError):
        return [[], []]
    return [[p.name for p in found if p.kind in _POSITIONAL], [p.name for p in found]]


if __name__ == "__main__":
    main()
