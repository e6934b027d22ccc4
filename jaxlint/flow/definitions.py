"""`def` and `class`: what they bind, decorators evaluated and then called."""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

from jaxlint.flow.annotations import annotation_text
from jaxlint.flow.boundary_state import BoundaryState
from jaxlint.flow.calls import call_value
from jaxlint.flow.classes import ClassInfo
from jaxlint.flow.closures import Closure, Scope
from jaxlint.flow.facts import CacheStore, ModuleRole
from jaxlint.flow.frame import STATEMENTS, Call, Frame, evaluate, statement
from jaxlint.flow.functions import Function
from jaxlint.flow.kinds import API, BOUNDARY, CLASS, CONSTANT, FUNCTION, PARTIAL
from jaxlint.flow.patching import changed_by
from jaxlint.flow.pytree_classes import note_flattening, note_registration
from jaxlint.flow.values import UNKNOWN_VALUE, Origin, Value
from jaxlint.flow.walking import walk
from jaxlint.jax_api.categories import category
from jaxlint.jax_api.processes import PROCESS_CLASSES

if TYPE_CHECKING:
    from jaxlint.flow.run import Run

# Base classes of known libraries → family of the class.
_FAMILIES = {
    **dict.fromkeys(PROCESS_CLASSES, "process"),
    "equinox.Module": "equinox",
    "equinox.nn.StatefulLayer": "equinox",
    "flax.nnx.Module": "nnx",
    "flax.nnx.Object": "nnx",
    "flax.nnx.Pytree": "nnx",
    "flax.linen.Module": "linen",
    "haiku.Module": "haiku",
    "flax.struct.PyTreeNode": "struct",
    "flax.training.train_state.TrainState": "struct",
    "typing.NamedTuple": "namedtuple",
    "enum.Enum": "enum",
    "enum.IntEnum": "enum",
    "enum.StrEnum": "enum",
    "enum.Flag": "enum",
    "penzai.core.struct.Struct": "pytree",
    "penzai.pz.nn.Layer": "pytree",
}
_CLASS_DECORATORS = {
    "flax.struct.dataclass": "struct",
    "chex.dataclass": "struct",
    "jax_dataclasses.pytree_dataclass": "struct",
    "jax.tree_util.register_pytree_node_class": "pytree",
    "jax.tree_util.register_pytree_with_keys_class": "pytree",
    "jax.tree_util.register_dataclass": "pytree",
    "jax.tree_util.register_static": "pytree",
    "penzai.core.struct.pytree_dataclass": "pytree",
}
_DATACLASSES = frozenset(
    {"dataclasses.dataclass", "attrs.define", "attrs.frozen", "attr.s", "pydantic.dataclasses.dataclass"}
)
_FIELD_CALLS = frozenset({"field", "static_field"})


@statement(ast.FunctionDef, ast.AsyncFunctionDef)
def function_def(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    module = frame.module
    function = module.functions.get(node)
    if function is None:
        function = module.functions[node] = Function(node, node.name, module, frame.defining, frame.function)
    if frame.function is None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                frame.in_default = True
                evaluate(frame, default)
                frame.in_default = False
    # A method sees the names around its class, not those of the class body.
    scope = frame.scope() if frame.defining is None else frame.defining.scope
    closure = Closure(function, scope, frame.evaluation, frame.loop, node)
    value = Value(FUNCTION, data=closure)
    if frame.defining is not None:
        frame.defining.methods[node.name] = function
    frame.names[node.name] = value
    _captured_boundaries(frame, node)
    for decorator in reversed(node.decorator_list):
        value = decorate(frame, evaluate(frame, decorator), value, decorator, function)
    frame.names[node.name] = value


def _captured_boundaries(frame: Frame, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """A boundary that a nested function closes over lives as long as that function may."""
    if frame.function is None:
        return
    held = {name for name, value in frame.names.items() if value.kind == BOUNDARY and name != node.name}
    if held:
        for child in walk(node):
            if isinstance(child, ast.Name) and child.id in held:
                frame.names[child.id].data.escapes = True


def decorate(frame: Frame, decorator: Value, value: Value, node: ast.expr, function: Function) -> Value:
    """`@decorator` on what is below it."""
    call = Call(node, [value], {}, decorator=True)
    if decorator.kind == API:
        kind, last = category(decorator.data)
        if kind in ("cache", "cached_property", "other_cache"):
            _cached(frame, node, function, last, bounded=last not in ("cache", "cached_property"))
            return value
        if kind == "builtin":
            return _builtin_decorator(last, value, function)
        if kind in ("jit", "transform", "control", "trace_guard"):
            return call_value(frame, decorator, call)
        if decorator.data in ("contextlib.contextmanager", "contextlib.asynccontextmanager"):
            return value
        if kind in ("transparent", "wraps"):
            function.is_static |= last == "staticmethod"
            return value
        if last in ("property", "cached_property", "setter", "getter"):
            function.is_property = True
            return value
        known = ("jaxtyping", "beartype", "typing", "equinox", "chex", "flax", "haiku", "numba.extending")
        return value if decorator.data.startswith(known) else UNKNOWN_VALUE
    if decorator.kind == CONSTANT and decorator.data == "cache decorator":
        _cached(frame, node, function, "lru_cache", bounded=bool(decorator.tags))
        return value
    if decorator.kind == PARTIAL:
        return call_value(frame, decorator, call)
    if decorator.kind == FUNCTION:
        return _project_decorator(frame, decorator, value, call)
    if decorator.kind == BOUNDARY:
        return decorator
    patched = changed_by(decorator)
    if patched:
        function.patches = (*function.patches, *patched)
        return value
    return UNKNOWN_VALUE


def _project_decorator(frame: Frame, decorator: Value, value: Value, call: Call) -> Value:
    """A decorator of the project: what it returns, where that is a boundary or the function itself."""
    result = call_value(frame, decorator, call)
    return result if result.kind in (BOUNDARY, FUNCTION) else UNKNOWN_VALUE


def _builtin_decorator(last: str, value: Value, function: Function) -> Value:
    if last == "staticmethod":
        function.is_static = True
        return value
    if last == "property":
        function.is_property = True
        return value
    if last == "classmethod":
        function.is_classmethod = True
        return value
    return UNKNOWN_VALUE


def _cached(frame: Frame, node: ast.expr, function: Function, last: str, bounded: bool) -> None:
    function.cached = last
    function.cached_at = frame.place(node)
    if last == "cached_property":
        function.is_property = True
    if not frame.quiet:
        frame.log.append(PendingCache(frame, node, function, last, bounded))


class PendingCache:
    """A cache decorator; the fact is made at the end, when the function's result is known."""

    __slots__ = ("bounded", "frame", "function", "how", "node")

    def __init__(self, frame: Frame, node: ast.expr, function: Function, how: str, bounded: bool) -> None:
        self.frame = frame
        self.node = node
        self.function = function
        self.how = how
        self.bounded = bounded

    def fact(self, run: Run | None = None) -> CacheStore:
        """What the calls of a run show, by default those of the defining module's own."""
        from jaxlint.flow.caching import decorated_fact

        return decorated_fact(
            run or self.frame.run, self.frame, self.node, self.function, self.how, self.bounded
        )


@statement(ast.ClassDef)
def class_def(frame: Frame, node: ast.ClassDef) -> None:
    module = frame.module
    cls = module.classes.get(node)
    if cls is None:
        outer = (
            frame.function.qualname
            if frame.function is not None
            else frame.defining.qualname
            if frame.defining
            else ""
        )
        cls = module.classes[node] = ClassInfo(node, module, f"{outer}.{node.name}" if outer else node.name)
    _bases(frame, cls, node)
    names, outer_scope, defining = frame.names, frame.outer, frame.defining
    if frame.function is not None or frame.outer is not None:
        cls.scope = frame.outer = Scope(names, outer_scope, frame.evaluation)
    else:
        frame.outer = Scope(names, None)
    frame.names = {}
    frame.defining = cls
    for child in node.body:
        _class_statement(frame, cls, child)
    for name, value in frame.names.items():
        method = cls.methods.get(name)
        plain = (
            value.kind == FUNCTION
            and method is not None
            and value.data.function is method
            and not value.data.transforms
        )
        if not plain:
            cls.attributes[name] = value
    note_flattening(cls)
    for value in cls.attributes.values():
        if value.kind == BOUNDARY and value.data.in_class is None and _is_own_method(value.data, cls):
            value.data.in_class = cls
    frame.names, frame.outer, frame.defining = names, outer_scope, defining
    frame.names[node.name] = Value(CLASS, data=cls)


def _is_own_method(state: BoundaryState, cls: ClassInfo) -> bool:
    """`@jit def step(self…)` or `step = jit(_step)` in the class body."""
    closure = state.closure
    return closure is not None and closure.function.cls is cls and closure.receiver is None


def _class_statement(frame: Frame, cls: ClassInfo, node: ast.stmt) -> None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        text = annotation_text(node.annotation)
        if not text.startswith(("ClassVar", "typing.ClassVar")):
            if node.target.id not in cls.fields:
                cls.fields.append(node.target.id)
            cls.annotations[node.target.id] = text
            if _is_converted(node.value):
                cls.converted.add(node.target.id)
            if _is_static_field(node.value):
                cls.static_fields.add(node.target.id)
    handler = STATEMENTS.get(node.__class__)
    if handler is not None:
        handler(frame, node)


def _is_converted(node: ast.expr | None) -> bool:
    """`field(converter=float)`: what is passed is not what is stored."""
    return isinstance(node, ast.Call) and any(keyword.arg == "converter" for keyword in node.keywords)


def _is_static_field(node: ast.expr | None) -> bool:
    if not isinstance(node, ast.Call):
        return False
    callee = node.func
    name = (
        callee.attr
        if isinstance(callee, ast.Attribute)
        else callee.id
        if isinstance(callee, ast.Name)
        else ""
    )
    if name == "static_field":
        return True
    if name not in _FIELD_CALLS:
        return False
    for keyword in node.keywords:
        if keyword.arg == "metadata" and "static" in ast.dump(keyword.value):
            return True
        if isinstance(keyword.value, ast.Constant):
            if keyword.arg == "static" and keyword.value.value is True:
                return True
            if keyword.arg == "pytree_node" and keyword.value.value is False:
                return True
        if keyword.arg == "metadata" and _says_static(keyword.value):
            return True
    return False


def _says_static(metadata: ast.expr) -> bool:
    """`dict(static=True)` or `{"static": True}`, as `jax.tree_util.register_dataclass` reads it."""
    if isinstance(metadata, ast.Dict):
        pairs = zip(metadata.keys, metadata.values, strict=True)
        said = [(k.value, v) for k, v in pairs if isinstance(k, ast.Constant)]
    else:
        said = [(k.arg, k.value) for k in metadata.keywords] if isinstance(metadata, ast.Call) else []
    return any(key == "static" and isinstance(v, ast.Constant) and v.value is True for key, v in said)


def _bases(frame: Frame, cls: ClassInfo, node: ast.ClassDef) -> None:
    cls.bases, cls.unknown_bases = [], []
    for base in node.bases:
        value = evaluate(frame, base)
        if value.kind == CLASS and value.data is not cls:
            cls.bases.append(value.data)
            cls.family = cls.family or value.data.family
            cls.unknown_bases += value.data.unknown_bases
            cls.unsettled |= value.data.unsettled
            cls.dataclass = cls.dataclass or value.data.dataclass
        elif value.kind == API:
            cls.family = cls.family or _FAMILIES.get(value.data, "") or _library_family(value.data)
            if not cls.family and not _is_plain_base(value.data):
                cls.unknown_bases.append(value.data)
        else:
            cls.unknown_bases.append("")
    for keyword in node.keywords:
        evaluate(frame, keyword.value)
    for decorator in node.decorator_list:
        _class_decorator(frame, cls, evaluate_decorator(frame, decorator), decorator)


def _is_plain_base(dotted: str) -> bool:
    """A base that leaves comparison and hashing alone: `object`, or an abstract class of the standard library."""
    top = dotted.partition(".")[0]
    return dotted == "builtins.object" or (top in sys.stdlib_module_names and top != "builtins")


def _library_family(dotted: str) -> str:
    """The family of a class of an installed package, where its own name tells."""
    head, _, last = dotted.rpartition(".")
    if head.startswith("equinox") and last.endswith("Module"):
        return "equinox"
    if head.startswith(("distreqx", "diffrax", "optimistix", "lineax")):
        return "equinox"
    if head.startswith("flax.nnx"):
        return "nnx"
    if head.startswith("flax.linen"):
        return "linen"
    return ""


def evaluate_decorator(frame: Frame, node: ast.expr) -> Value:
    """A class decorator, the callee where it is called with options."""
    if isinstance(node, ast.Call):
        callee = evaluate(frame, node.func)
        if callee.kind == API and category(callee.data)[0] == "partial" and node.args:
            return evaluate(frame, node.args[0])
        return callee
    return evaluate(frame, node)


def _class_decorator(frame: Frame, cls: ClassInfo, decorator: Value, node: ast.expr) -> None:
    if decorator.kind != API:
        return
    dotted = decorator.data
    if dotted in _CLASS_DECORATORS:
        note_registration(cls, node)
        cls.family = cls.family or _CLASS_DECORATORS[dotted]
        cls.dataclass = True
    if dotted in _DATACLASSES:
        cls.dataclass = True
        cls.frozen |= dotted.endswith("frozen")
        options = node.keywords if isinstance(node, ast.Call) else []
        for keyword in options:
            if isinstance(keyword.value, ast.Constant):
                flag = bool(keyword.value.value)
                if keyword.arg in ("frozen", "unsafe_hash"):
                    cls.frozen |= flag
                elif keyword.arg == "eq":
                    cls.eq = flag


__all__ = ["ModuleRole", "Origin", "PendingCache"]
