"""Whether importing a module is somebody else's doing (library) or the run itself (application, test)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from jaxlint.flow.facts import ModuleRole
from jaxlint.index.walking import nodes_of, walk
from jaxlint.pattern import pattern
from jaxlint.project.settings import Settings

_APPLICATION_NAMES = ("setup", "noxfile")
_APPLICATION_DIRECTORIES = frozenset(
    {"examples", "example", "scripts", "benchmarks", "docs", "doc", "demos", "tutorials", "notebooks", "bin"}
)
_TEST_DIRECTORY = "tests"

_CELL = pattern(r"^# ?(%%|In\[[ \d]*\]:|COMMAND -{5})", re.MULTILINE)

# Calls that a library makes at import with good reason: configuration, environment, logging, warnings and
# registration. What the call is reached through tells, or its own name, or all of it.
_OWNERS = frozenset({"config", "environ", "log", "logger", "logging", "rcparams", "warnings"})
_NAMES = pattern(
    r"set(_\w+)?|(enable|disable)\w*|initialize_cache"
    r"|(un)?register\w*|\w+_register|DEFINE_\w+"
    r"|def(_\w+|[vj]\w+|vectorized|broadcasting|linear\w*|bilinear\w*|reducer|naryop)"  # f.defvjp
    r"|basicConfig|simplefilter|filterwarnings|seterr|setrecursionlimit|putenv|load_dotenv|setattr"
)
_WHOLE = frozenset(
    {
        "os.makedirs",
        "os.mkdir",
        "sys.path.append",
        "sys.path.insert",
        "matplotlib.use",
        "__all__.append",
        "__all__.extend",
    }
)


def is_script(text: str) -> bool:
    """Whether a text is run by its name, or cell by cell as a notebook: those of jupytext and Spyder (`# %%`), of
    nbconvert (`# In[3]:`) and of Databricks."""
    return text.startswith("#!") or _CELL.search(text) is not None


def role(tree: ast.Module, path: str, settings: Settings, *, script: bool = False) -> ModuleRole:
    """The role of a module. Where nothing shows it to be the run itself, it is a library module.

    `path` is relative to the project's root, `script` what `is_script` says of the text. `kind` in the settings
    decides for all modules but tests; "library" leaves what its name or place shows to be a script. Who imports
    the module is not considered: a single module cannot tell.
    """
    *directories, name = path.replace("\\", "/").split("/")
    stem = name.partition(".")[0]
    if (
        stem.startswith("test_")
        or stem.endswith("_test")
        or stem == "conftest"
        or _TEST_DIRECTORY in directories
    ):
        return ModuleRole.TEST
    placed = (
        script
        or name.endswith(".ipynb")
        or stem in _APPLICATION_NAMES
        or not _APPLICATION_DIRECTORIES.isdisjoint(directories)
    )
    if placed or settings.kind == "application":
        return ModuleRole.APPLICATION
    if stem == "__init__":  # of a package: imported, never run
        return ModuleRole.LIBRARY
    if settings.kind == "library":
        return ModuleRole.LIBRARY
    if any(is_main_guard(node) for node in tree.body) or _runs(tree.body, _configuring(tree)):
        return ModuleRole.APPLICATION
    return ModuleRole.LIBRARY


def is_main_guard(node: ast.stmt) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    if not (
        isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and len(node.test.comparators) == 1
    ):
        return False
    sides = (node.test.left, node.test.comparators[0])
    names = [side.id for side in sides if isinstance(side, ast.Name)]
    texts = [side.value for side in sides if isinstance(side, ast.Constant)]
    return isinstance(node.test.ops[0], ast.Eq) and names == ["__name__"] and texts == ["__main__"]


def _configuring(tree: ast.Module) -> frozenset[str]:
    """Functions that change configuration or the environment, the module's own and jax's under another name:
    calling one only prepares."""
    own = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and _changes_configuration(node)
    }
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "jax":
            own.update(f"{a.asname}.update" for a in node.names if a.name == "config" and a.asname)
    return frozenset(own)


def _changes_configuration(function: ast.FunctionDef) -> bool:
    for call in nodes_of(function, ast.Call):
        if _dotted(call.func).endswith(("config.update", "environ.setdefault", "environ.update")):
            return True
        option = call.args[0] if _dotted(call.func).endswith(".update") and len(call.args) == 2 else None
        if isinstance(option, ast.Constant) and str(option.value).startswith(
            "jax_"
        ):  # `cfg.update("jax_…", …)`
            return True
    stored = (part for part in nodes_of(function, ast.Subscript) if isinstance(part.ctx, ast.Store))
    return any(_dotted(part.value) == "os.environ" for part in stored)


def _runs(body: Iterable[ast.stmt], own: frozenset[str]) -> bool:
    """Whether statements at module level do the work of a program and not only prepare for one. `own` are
    the module's functions that only prepare."""
    for node in body:
        if isinstance(node, ast.Expr):
            if (
                isinstance(node.value, ast.Call)
                and not _prepares(node.value)
                and _dotted(node.value.func) not in own
            ):
                return True
        elif isinstance(node, (ast.For, ast.While, ast.With, ast.AsyncFor, ast.AsyncWith)):
            if not _only_prepares([*node.body, *getattr(node, "orelse", ())]):
                return True
        elif isinstance(node, (ast.If, ast.Try)) and _runs(_inner(node), own):
            return True
    return False


def _only_prepares(body: Iterable[ast.stmt]) -> bool:
    for node in body:
        if isinstance(node, ast.Expr):
            harmless = not isinstance(node.value, ast.Call) or _prepares(node.value)
        elif isinstance(node, (ast.If, ast.Try)):
            harmless = _only_prepares(_inner(node))
        elif isinstance(node, (ast.For, ast.While, ast.With)):
            harmless = _only_prepares([*node.body, *getattr(node, "orelse", ())])
        else:
            harmless = (
                _is_path(node)
                or _is_setting(node)
                or isinstance(node, (ast.Import, ast.ImportFrom, ast.Pass, ast.Continue, ast.Break))
            )
        if not harmless:
            return False
    return True


def _is_path(node: ast.stmt) -> bool:
    """`cache = os.path.join(tempfile.gettempdir(), "x")`: a name for a directory to be set up."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return False
    calls = [_dotted(child.func) for child in walk(node.value) if isinstance(child, ast.Call)]
    return all(call.startswith(("os.", "pathlib.", "tempfile.", "Path")) for call in calls)


def _is_setting(node: ast.stmt) -> bool:
    """`os.environ[name] = value`, as a loop over a table of settings has it."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    stored = [target for target in targets if isinstance(target, ast.Subscript)]
    return bool(stored) and all(_dotted(target.value).endswith("environ") for target in stored)


def _inner(node: ast.If | ast.Try) -> list[ast.stmt]:
    if isinstance(node, ast.If):
        return [*node.body, *node.orelse]
    handlers = [statement for handler in node.handlers for statement in handler.body]
    return [*node.body, *handlers, *node.orelse, *node.finalbody]


def _prepares(call: ast.Call) -> bool:
    """Whether a call configures, sets the environment, logs, warns or registers something."""
    dotted = _dotted(call.func)
    *owners, name = dotted.split(".")
    return (
        dotted in _WHOLE
        or _NAMES.fullmatch(name) is not None
        or any(word in _OWNERS for owner in owners for word in owner.lower().split("_"))
    )


def _dotted(node: ast.expr) -> str:
    names = []
    while isinstance(node, (ast.Attribute, ast.Call)):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        else:
            node = node.func
    if isinstance(node, ast.Name):
        names.append(node.id)
    return ".".join(reversed(names))
