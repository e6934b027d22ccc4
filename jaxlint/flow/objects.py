"""The things values refer to: functions, closures, classes, instances, boundaries."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from jaxlint.flow.joining import join
from jaxlint.flow.kinds import INSTANCE, TREE
from jaxlint.flow.values import UNKNOWN_VALUE, Origin, Value
from jaxlint.index import installed

if TYPE_CHECKING:
    from jaxlint.finding import Place
    from jaxlint.flow.evaluations import Evaluation
    from jaxlint.flow.linen import Applied
    from jaxlint.flow.program import LoadedModule

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Signature:
    """The parameters of a function by its syntax. Nobody changes it: all runs over a tree share it."""

    __slots__ = ("annotations", "defaults", "index", "keyword_only", "params")

    def __init__(self, args: ast.arguments) -> None:
        self.params = [a.arg for a in args.posonlyargs] + [a.arg for a in args.args]
        self.keyword_only = [a.arg for a in args.kwonlyargs]
        self.index = {name: i for i, name in enumerate(self.params)}
        self.defaults: dict[str, ast.expr] = {}
        if args.defaults:
            self.defaults.update(zip(self.params[-len(args.defaults) :], args.defaults, strict=True))
        for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if default is not None:
                self.defaults[arg.arg] = default
        self.annotations: dict[str, str] = {
            a.arg: annotation_text(a.annotation)
            for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)
            if a.annotation is not None
        }


def signature_of(node: FunctionNode) -> Signature:
    """The signature of a function, found once for its node."""
    known: Signature | None = node.__dict__.get("signature")
    if known is None:
        known = node.signature = Signature(node.args)  # type: ignore[union-attr]  # as long as the tree lives
    return known


class Function:
    """A def or lambda of the project, once for its node in a run."""

    __slots__ = (
        "annotations", "args", "cached", "cached_at", "cls", "defaults", "index", "is_classmethod", "is_property",
        "is_static", "keyword_only", "lends", "module", "name", "node", "params", "parent", "patches", "qualname",
        "uses",
        "variadic",
    )  # fmt: skip

    def __init__(
        self,
        node: FunctionNode,
        name: str,
        module: LoadedModule,
        cls: ClassInfo | None,
        parent: Function | None,
    ) -> None:
        self.node = node
        self.name = name
        self.module = module
        self.cls = cls
        self.parent = parent
        outer: str = cls.qualname if cls is not None else parent.qualname if parent is not None else ""
        self.qualname: str = f"{outer}.{name}" if outer else name
        signature = signature_of(node)
        self.args = node.args
        self.params = signature.params
        self.keyword_only = signature.keyword_only
        self.variadic = node.args.vararg is not None
        self.index = signature.index
        self.defaults = signature.defaults
        self.annotations = signature.annotations
        self.cached: str = ""  # "lru_cache", "cache": a decorator keeps its results
        self.cached_at: Place | None = None  # that decorator
        self.is_property = False
        self.is_classmethod = False
        self.is_static = False
        self.patches: tuple[Any, ...] = ()  # what decorators change while it runs, see flow.patching
        self.uses: dict[str, set[str]] | None = None  # see flow.parameters
        self.lends: dict[str, str] | None = None  # parameter → what it hands it to, see flow.lending

    @property
    def is_method(self) -> bool:
        return self.cls is not None and not self.is_static

    @property
    def is_lambda(self) -> bool:
        return self.node.__class__ is ast.Lambda

    @property
    def record_name(self) -> str:
        """The qualified name the index uses: a class inside a function starts anew."""
        if self.cls is not None:
            return f"{self.cls.name}.{self.name}"
        return f"{self.parent.record_name}.{self.name}" if self.parent is not None else self.name


_ARRAY_NAMES = ("Array", "jax.Array", "jnp.ndarray", "jax.numpy.ndarray", "ArrayLike")
_JAXTYPING = (
    "Float",
    "Int",
    "Bool",
    "Complex",
    "Inexact",
    "Num",
    "Real",
    "Shaped",
    "UInt",
    "Key",
    "PRNGKeyArray",
)


def is_array_annotation(text: str) -> bool:
    """Whether an annotation says array and nothing else (`Float[Array, "n d"]`, `jax.Array`)."""
    text = text.strip("'\"")
    if text in _ARRAY_NAMES[:4]:
        return True
    head, bracket, rest = text.partition("[")
    return bool(bracket) and head.rpartition(".")[2] in _JAXTYPING and rest.lstrip().startswith(_ARRAY_NAMES)


def annotation_text(node: ast.expr) -> str:
    """An annotation as text, short forms without unparsing: it is asked for every parameter."""
    if isinstance(node, ast.Name):
        return node.id
    known: str | None = node.__dict__.get("text")
    if known is None:
        known = node.text = _annotation_text(node)  # type: ignore[attr-defined]  # once for each tree
    return known


def _annotation_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    if isinstance(node, ast.Subscript):
        inner = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        return f"{annotation_text(node.value)}[{annotation_text(inner)}]"
    if isinstance(node, ast.BinOp):
        return f"{annotation_text(node.left)} | {annotation_text(node.right)}"
    return ""


class Scope:
    """The names around a nested function. `home` is the evaluation they belong to: branches and loops work on
    copies of the names, so only it identifies a variable."""

    __slots__ = ("home", "names", "up")

    def __init__(self, names: dict[str, Value], up: Scope | None, home: Evaluation | None = None) -> None:
        self.names = names
        self.up = up
        self.home = home


class Closure:
    """A function object made somewhere.

    `home` and `loop` say where: the evaluation that made it and how many loops were around it there.
    `transforms` are (level, name) pairs, innermost first. `via` is "partial" or "".
    `receiver` is the instance of a bound method.
    """

    __slots__ = (
        "applied", "argnums", "axes_unknown", "bound", "bound_keywords", "by_equinox", "dropped", "function",
        "home", "in_axes",
        "inner_fresh", "loop", "node", "receiver", "scope", "transforms", "via",
    )  # fmt: skip

    def __init__(
        self, function: Function, scope: Scope | None, home: Evaluation | None, loop: int, node: ast.AST
    ) -> None:
        self.function = function
        self.scope = scope
        self.home = home
        self.loop = loop
        self.node = node
        self.transforms: tuple[tuple[int, str], ...] = ()
        self.bound: list[Value] = []
        self.bound_keywords: dict[str, Value] = {}
        self.receiver: Value | None = None
        self.in_axes: list[Any] | None = None
        self.argnums: list[int] | None = [0]  # what grad differentiates; None: not understood
        self.axes_unknown = False
        self.dropped = 0  # leading arguments that the function does not get (Haiku's params and rng)
        self.applied: Applied | None = None  # run by a linen module's `apply` or `init`
        self.via = ""
        self.by_equinox = False  # transformed by Equinox's own transforms, which hash by value
        self.inner_fresh = False  # what is transformed is itself made anew

    def copy(self, home: Evaluation | None, loop: int, node: ast.AST) -> Closure:
        """The same function as another object, made here."""
        new = Closure(self.function, self.scope, home, loop, node)
        new.transforms = self.transforms
        new.bound = self.bound
        new.bound_keywords = self.bound_keywords
        new.receiver = self.receiver
        new.in_axes = self.in_axes
        new.argnums = self.argnums
        new.axes_unknown = self.axes_unknown
        new.dropped = self.dropped
        new.applied = self.applied
        new.via = self.via
        new.by_equinox = self.by_equinox
        new.inner_fresh = self.inner_fresh
        return new

    @property
    def offset(self) -> int:
        """How many leading parameters a call does not pass (self of a bound method)."""
        return 1 if self.receiver is not None and self.function.is_method else 0


class PartialApi:
    """`partial(jax.jit, static_argnums=0)`: a library callable with arguments bound, a class of the project, or a
    jit boundary."""

    __slots__ = ("api", "args", "boundary", "cls", "home", "keywords", "loop", "node")

    def __init__(
        self,
        api: str,
        args: list[Value],
        keywords: dict[str, Value],
        home: Evaluation | None = None,
        loop: int = 0,
        node: ast.AST | None = None,
    ) -> None:
        self.api = api
        self.args = args
        self.keywords = keywords
        self.home = home
        self.loop = loop
        self.node = node or ast.Pass()
        self.cls: ClassInfo | None = None  # instead of an `api`
        self.boundary: Value | None = None  # instead of an `api`


class ClassInfo:
    """A class of the project. `attributes` are class-level values; `fields` the annotated names in order."""

    __slots__ = (
        "annotations", "attributes", "bases", "converted", "dataclass", "eq", "family", "fields", "frozen",
        "generic",
        "methods", "module", "name", "node", "qualname", "scope", "static_fields",
        "unknown_bases", "unsettled",
    )  # fmt: skip

    def __init__(self, node: ast.ClassDef, module: LoadedModule, qualname: str) -> None:
        self.node = node
        self.name = node.name
        self.module = module
        self.qualname = qualname
        self.methods: dict[str, Function] = {}
        self.attributes: dict[str, Value] = {}
        self.bases: list[ClassInfo] = []
        self.unknown_bases: list[str] = []  # bases that are not in view, as dotted names or ""
        self.unsettled = False
        self.family = ""  # "equinox", "nnx", "linen", "haiku", "enum", "namedtuple", "struct", ...
        self.fields: list[str] = []
        self.annotations: dict[str, str] = {}
        self.static_fields: set[str] = set()
        self.converted: set[str] = set()  # fields that pass through a converter
        self.dataclass = False
        self.frozen = False
        self.eq = True
        self.scope: Scope | None = None
        self.generic: Value | None = None

    def lookup(self, name: str, depth: int = 0) -> Function | None:
        """A method, inherited ones included."""
        found = self.methods.get(name)
        if found is None and depth < 6:
            for base in self.bases:
                found = base.lookup(name, depth + 1)
                if found is not None:
                    break
        return found

    def attribute(self, name: str, depth: int = 0) -> Value | None:
        """A class-level value, inherited ones included."""
        found = self.attributes.get(name)
        if found is None and depth < 6:
            for base in self.bases:
                found = base.attribute(name, depth + 1)
                if found is not None:
                    break
        return found

    def annotation(self, name: str, depth: int = 0) -> str:
        """What a field is said to be, inherited ones included; "" where nothing is said."""
        found = self.annotations.get(name, "")
        if not found and depth < 6:
            found = next(filter(None, (base.annotation(name, depth + 1) for base in self.bases)), "")
        return found

    def all_fields(self, depth: int = 0) -> list[str]:
        """Dataclass fields in constructor order, inherited ones first."""
        names: list[str] = []
        if depth < 6:
            for base in self.bases:
                names += [n for n in base.all_fields(depth + 1) if n not in names]
        return names + [n for n in self.fields if n not in names]

    @property
    def unresolved(self) -> bool:
        """Has a base that nothing is known of, after asking what is installed. It may set the family."""
        while self.unknown_bases:
            dotted = self.unknown_bases.pop()
            family = installed.class_family(dotted) if dotted else None
            self.unsettled |= family is None
            self.family = self.family or family or ""
        return self.unsettled and not self.family

    def array_fields(self, depth: int = 0) -> set[str]:
        """Fields annotated as arrays and nothing else, inherited ones included."""
        found = {
            n for n, a in self.annotations.items() if is_array_annotation(a) and n not in self.static_fields
        }
        if depth < 6:
            for base in self.bases:
                found |= base.array_fields(depth + 1)
        return found

    def all_static_fields(self, depth: int = 0) -> frozenset[str]:
        """Fields that are part of the pytree's structure, inherited ones included."""
        found = frozenset(self.static_fields)
        if depth < 6:
            for base in self.bases:
                found |= base.all_static_fields(depth + 1)
        return found

    @property
    def is_pytree_module(self) -> bool:
        """An Equinox or Flax module: a pytree (or a graph node) to its own jit."""
        if not self.family and self.unknown_bases and self.unresolved:
            return False
        return self.family in ("equinox", "nnx", "linen", "struct", "pytree")

    @property
    def is_pytree_value(self) -> bool:
        """Its instances are pytrees that a call takes apart, named tuples included."""
        return self.family in ("equinox", "struct", "pytree", "namedtuple")

    @property
    def hashing(self) -> str:
        """How a jit cache keys an instance: "value", "identity", "unhashable" or "" (unknown)."""
        if self.unresolved:
            return ""
        if self.family in ("enum", "namedtuple"):
            return "value"
        if self.family == "linen":
            return "value"
        if self.family:
            return ""
        defines_eq, defines_hash = self.lookup("__eq__") is not None, self.lookup("__hash__") is not None
        if defines_hash:
            return "value" if defines_eq else "identity"
        if self.dataclass and self.eq:
            return "value" if self.frozen else "unhashable"
        if defines_eq:
            return "unhashable"
        return "identity"


class Instance:
    """An object in view. `fields` holds what was stored on it, joined over all stores."""

    __slots__ = ("cls", "copied", "copy", "fields", "home", "identity", "loop", "node")

    def __init__(self, cls: ClassInfo, home: Evaluation | None, loop: int, node: ast.AST) -> None:
        self.identity: object = self  # shared by what is the same object under another home
        self.copied = False  # a pytree argument of traced code: what is stored on it stays in the trace
        self.copy: Instance | None = None  # the one that traces have as an argument, where that is asked for
        self.cls = cls
        self.fields: dict[str, Value] = {}
        self.home = home
        self.loop = loop
        self.node = node

    def as_argument(self) -> Instance:
        """What a trace has of it as an argument: the same object to look at, a copy to write to."""
        if self.copied:
            return self
        if self.copy is None:
            self.copy = Instance(self.cls, self.home, self.loop, self.node)
            self.copy.identity = self.identity
            self.copy.fields = self.fields
            self.copy.copied = True
        return self.copy

    def described(self) -> Instance:
        """The same object, to be described otherwise."""
        new = Instance(self.cls, self.home, self.loop, self.node)
        new.identity = self.identity
        new.fields = dict(self.fields)
        return new

    def joined(self, other: Instance) -> Instance:
        """Either of two instances of one class: its plain fields are what both may be. Nested things are not
        looked into: object graphs have cycles."""
        if self.fields is other.fields:
            return self
        new = self.described()
        for name, value in other.fields.items():
            known = new.fields.get(name)
            if known is None or known is value:
                new.fields[name] = value
            elif known.kind in _NESTING and value.kind in _NESTING:
                new.fields[name] = UNKNOWN_VALUE
            else:
                new.fields[name] = join(known, value)
        return new


_NESTING = frozenset((INSTANCE, TREE))


class Foreign:
    """An object that a known library made (`optax.adam(…)`)."""

    __slots__ = ("api", "home", "loop", "node", "replays")

    def __init__(self, api: str, home: Evaluation | None, loop: int, node: ast.AST) -> None:
        self.api = api
        self.home = home
        self.loop = loop
        self.node = node
        self.replays = False  # a generator made while tracing: what it draws is its seed's doing


class Read:
    """An outer name that traced code reads: what the program may change afterwards without a retrace. `value` is
    what it was before the trace; None for what the trace itself made."""

    __slots__ = ("module", "node", "subject", "value")

    def __init__(self, module: LoadedModule, node: ast.AST, subject: str, value: Value | None = None) -> None:
        self.module = module
        self.node = node
        self.subject = subject
        self.value = value


class BoundaryState:
    """A jit boundary as the analysis meets it; `flow.boundary` turns it into a fact at the end of a run."""

    __slots__ = (
        "api", "closure", "donated", "escapes", "flavour", "form", "fresh", "fresh_in", "function",
        "guarded", "in_class", "library", "literal_loop", "lowered", "module", "node", "partly_bound",
        "reads", "result", "returned", "static", "target", "uses",
    )  # fmt: skip

    def __init__(self, api: str, flavour: str, module: LoadedModule, node: ast.AST, form: str) -> None:
        self.api = api
        self.flavour = flavour
        self.module = module
        self.node = node
        self.form = form
        self.closure: Closure | None = None
        self.library = ""  # the library's function that it wraps
        self.function: Function | None = None  # in which it is made
        self.static: frozenset[str | int] | None = frozenset()
        self.donated: frozenset[str | int] | None = frozenset()
        self.fresh = ""
        self.fresh_in = ""
        self.uses: list[tuple[LoadedModule, ast.AST]] = []
        self.escapes = False
        self.partly_bound = False  # a partial of it is made: its calls do not write all arguments
        self.returned = False
        self.guarded = False
        self.lowered = 0
        self.literal_loop = False
        self.in_class: ClassInfo | None = None
        self.result: Value | None = None
        self.target: Value | None = None  # the class that is called: `jit(Model)`
        self.reads: dict[Any, Read] = {}


class Watch:
    """A boundary call whose argument is followed to see whether its old value is read again."""

    __slots__ = ("boundary", "donating", "module", "name", "node", "read", "read_as_alias")

    def __init__(
        self, boundary: BoundaryState, module: LoadedModule, node: ast.AST, name: str, donating: bool
    ) -> None:
        self.boundary = boundary
        self.module = module
        self.node = node
        self.name = name
        self.donating = donating
        self.read = False
        self.read_as_alias = False  # through another name for the same object


__all__ = [
    "BoundaryState", "ClassInfo", "Closure", "Foreign", "Function", "FunctionNode", "Instance", "Origin",
    "PartialApi", "Read", "Scope", "Watch",
]  # fmt: skip
