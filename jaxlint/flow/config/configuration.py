"""What a module does when it is imported, and where configuration is changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from jaxlint.finding import Place
from jaxlint.flow.config import settings_tables
from jaxlint.flow.domain.kinds import API, CONSTANT
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value
from jaxlint.flow.facts import ConfigChange, Fact, ImportTimeDeviceWork, ModuleRole
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.retrace.mutation import Cleared, Mutated, environment_key
from jaxlint.index.walking import walk
from jaxlint.jax_api.runtime import ENVIRONMENT_OPTIONS
from jaxlint.jax_api.transforms import EAGER
from jaxlint.record import replace


class DeviceUse:
    """A log entry: the backend is started, or used, when this runs."""

    __slots__ = ("api", "module", "node", "place", "proof", "tests", "where")

    def __init__(self, frame: Frame, node: ast.AST, api: str, where: str) -> None:
        self.place = frame.place(node)
        self.module = frame.module
        self.node = node
        self.api = api
        self.where = where
        self.tests = frame.branches
        self.proof = frame.proof()


def device_use(frame: Frame, node: ast.AST, api: str) -> None:
    """Note device work that runs at import."""
    if frame.level != EAGER or frame.quiet or not hasattr(node, "lineno"):
        return
    if frame.function is not None:
        if frame.evaluation.device is None:
            frame.evaluation.device = DeviceUse(frame, node, api, "call")
            frame.log.append(frame.evaluation.device)
        return
    where = "class body" if frame.defining is not None else "module level"
    if frame.in_default:
        where = "default argument"
    frame.log.append(DeviceUse(frame, node, api, where))


@api_call("devices")
def devices(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    device_use(frame, call.node, dotted)
    return UNKNOWN_VALUE


def environment_item_set(frame: Frame, target: ast.Subscript, key: Value, value: Value) -> None:
    """`os.environ[key] = value`; in a loop the table says which."""
    statement = frame.statement
    given = statement.value if isinstance(statement, ast.Assign) else None
    for name, set_to in _settings(frame, key, value, target.slice, given):
        environment_set(frame, target, name, set_to)


def environment_set(frame: Frame, node: ast.AST, key: object, value: Value) -> None:
    """`os.environ[key] = value`."""
    if isinstance(key, str):
        frame.log.append(Mutated(environment_key(key), frame.module, node))
    if isinstance(key, str) and key.startswith(("JAX_", "XLA_")) and not frame.quiet:
        _change(frame, node, ENVIRONMENT_OPTIONS.get(key, key), "environ", value)


@api_call("config")
def config_update(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    option, value = call.argument(0, "name"), call.argument(1, "val")
    if option is not None and option.data == "jax_disable_jit":
        frame.log.append(Cleared())
    if option is None or frame.quiet:
        return UNKNOWN_VALUE
    key, given = call.argument_node(0, "name"), call.argument_node(1, "val")
    for name, set_to in _settings(frame, option, value or UNKNOWN_VALUE, key, given):
        _change(frame, call.node, name, "config.update", set_to)
    return UNKNOWN_VALUE


def _settings(
    frame: Frame, key: Value, value: Value, key_node: ast.expr | None, value_node: ast.expr | None
) -> Iterator[tuple[str, Value]]:
    """The (name, value) that a statement sets: one, or those of the table that the loop around it goes through."""
    if key.kind == CONSTANT:
        found = [(key, value)]
    elif frame.loops and key_node is not None and value_node is not None:
        found = list(settings_tables.settings(frame, key_node, value_node))
    else:
        return
    yield from ((name.data, set_to) for name, set_to in found if isinstance(name.data, str))


@api_call("cache_call")
def cache_call(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if not frame.quiet:
        first = call.positional[0] if call.positional else UNKNOWN_VALUE
        _change(frame, call.node, dotted, "call", first)
    return UNKNOWN_VALUE


@api_call("environ")
def environ_call(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`os.environ.setdefault(key, value)`, `os.environ.update({...})`, `os.putenv(key, value)`."""
    if frame.quiet:
        return UNKNOWN_VALUE
    if last in ("setdefault", "putenv", "__setitem__"):
        key, value = call.argument(0, "key"), call.argument(1, "value")
        nodes = call.argument_node(0, "key"), call.argument_node(1, "value")
        if key is not None:
            for name, set_to in _settings(frame, key, value or UNKNOWN_VALUE, *nodes):
                environment_set(frame, call.node, name, set_to)
    elif last == "update":
        given = call.argument(0)
        items = given.data if given is not None and given.data.__class__ is dict else {}
        for key, value in {**items, **call.keywords}.items():
            environment_set(frame, call.node, key, value)
    return UNKNOWN_VALUE


def attribute_set(frame: Frame, node: ast.Attribute, owner: Value, value: Value) -> None:
    """`jax.config.jax_enable_x64 = True`: raises, but says what was meant."""
    if owner.kind == API and owner.data in ("jax.config", "jax.config.config") and not frame.quiet:
        _change(frame, node, node.attr, "config attribute", value)


def _change(frame: Frame, node: ast.AST, option: str, how: str, value: Value) -> None:
    function = frame.function
    frame.record(
        ConfigChange(
            frame.place(node),
            frame.symbol,
            frame.proof(),
            option=option,
            how=how,
            value=value.data if value.kind == CONSTANT else None,
            value_known=value.kind == CONSTANT,
            at_import=function is None,
            role=ModuleRole.LIBRARY,
            in_main_guard=False,
            follows_parameter=_follows_parameter(frame, node),
        )
    )


def _follows_parameter(frame: Frame, node: ast.AST) -> bool:
    """Whether the caller asks for the change: its value, or a test around it, uses a parameter. What a function
    puts back afterwards is part of what it was asked for. A value may be made of a parameter under other names."""
    function = frame.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    names = {*function.params, *function.keyword_only} - {"self", "cls"}
    for statement in walk(function.node) if names else ():
        asked: ast.AST | None = None
        if isinstance(statement, (ast.If, ast.While, ast.IfExp)) and _encloses(statement, node):
            asked = statement.test
        elif (isinstance(statement, ast.Call) and (_encloses(statement, node) or _is_update(statement))) or (
            isinstance(statement, ast.Assign) and _encloses(statement, node)
        ):
            asked = statement
        elif isinstance(statement, ast.If) and _ends(statement.body) and statement.lineno < _line(node):
            asked = statement.test
        if isinstance(statement, (ast.If, ast.While, ast.IfExp)) and not _is_choice(statement.test):
            continue
        if asked is not None and _uses(asked, names):
            return True
    return bool(names) and _uses(_statement(frame, node), _made_of(names, function.node))


def _statement(frame: Frame, node: ast.AST) -> ast.AST:
    """The assignment that a change is, or its call."""
    return (
        frame.statement
        if isinstance(frame.statement, ast.Assign) and not isinstance(node, ast.Call)
        else node
    )


def _made_of(names: set[str], function: ast.AST) -> set[str]:
    """Names, and those that assignments make of them: `target = Path(path) if path else HOME`."""
    found = set(names)
    made = (n for n in walk(function) if isinstance(n, (ast.Assign, ast.AnnAssign, ast.NamedExpr)))
    for assignment in sorted(made, key=_line):
        if assignment.value is not None and _uses(assignment.value, found):
            targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
            found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def _uses(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))


def _is_choice(test: ast.expr) -> bool:
    """A flag, or a comparison with a name or None: what a caller says on purpose. A tolerance is none."""
    return not any(
        isinstance(op, (ast.Lt, ast.Gt, ast.LtE, ast.GtE))
        for n in walk(test)
        if isinstance(n, ast.Compare)
        for op in n.ops
    )


def _is_update(call: ast.Call) -> bool:
    """`jax.config.update(…)` under any spelling."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "update" and len(call.args) == 2


def _line(node: ast.AST) -> int:
    return int(getattr(node, "lineno", 0))


def _encloses(outer: ast.AST, inner: ast.AST) -> bool:
    return any(child is inner for child in walk(outer))


def _ends(body: list[ast.stmt]) -> bool:
    return bool(body) and isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue))


class JaxImport(NamedTuple):
    """An import that brings jax, and the statement at module level around it: it is sure to have run when that
    ends, since what handles its failure runs in its place."""

    place: Place
    statement: Place

    def before(self, change: ConfigChange) -> Place | None:
        """Where jax is imported, if that stands before a change of the same module."""
        span, other = self.statement.span, change.place.span
        after = (span.end_line, span.end_column) <= (other.line, other.column)
        return self.place if after and change.place.path == self.place.path else None


def import_order(
    module_tree: ast.Module, changes: list[ConfigChange], uses: list[DeviceUse], jax_import: JaxImport | None
) -> list[Fact]:
    """Say of each change what came before it in its module."""
    at_top = [u.place for u in uses if u.where != "call" and not u.tests]
    first_use = min(at_top, key=lambda p: p.span, default=None)
    ordered: list[Fact] = []
    for change in changes:
        ordered.append(
            replace(
                change,
                after_jax_import=jax_import.before(change) if jax_import is not None else None,
                after_device_use=change.after_device_use or _earlier(first_use, change),
            )
        )
    return ordered


def _earlier(first_use: Place | None, change: ConfigChange) -> Place | None:
    """The first use, if it comes before a change at module level."""
    if first_use is None or change.symbol or not first_use.span < change.place.span:
        return None
    return first_use


def import_time_work(uses: list[DeviceUse], role: ModuleRole) -> ImportTimeDeviceWork | None:
    """One fact a module: the first use, and the others."""
    if not uses:
        return None
    ordered = sorted(uses, key=lambda u: u.place.span)
    first = ordered[0]
    places = tuple(dict.fromkeys(u.place for u in ordered[1:] if u.place != first.place))
    return ImportTimeDeviceWork(
        first.place, "", first.proof, api=first.api, role=role, others=places, where=first.where
    )
