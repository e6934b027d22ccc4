"""The contract between engine and rules: what the flow analysis saw, as small frozen records.

Every fact carries the `place` a rule would look at first, the `symbol` (qualified name of the function it
lies in, "" at module level) and its `proof`. Facts are plain data: no syntax trees, no closures. A rule
subscribes to a fact by naming its type; `jaxlint.rule` explains how.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, IntEnum, IntFlag

from jaxlint.finding import Place
from jaxlint.record import record


class Kind(str, Enum):
    """What a value is, as far as it is proven. Unknown means silence."""

    UNKNOWN = "unknown"
    CONSTANT = "constant"  # a literal, its value in `Operand.constant`
    SCALAR = "scalar"  # a Python number
    SHAPE = "shape"  # from .shape, .ndim, .dtype, len: static under a trace
    HOST = "host"  # a numpy array
    DEVICE = "device"  # a jax.Array outside a trace
    TRACED = "traced"  # proven array tracer
    TRACED_PARAMETER = "traced parameter"  # a parameter of traced code: perhaps a tree, perhaps None
    FUNCTION = "function"
    BOUNDARY = "boundary"  # the result of a jit
    TREE = "tree"  # tuple, list or dict display, or another container in view
    INSTANCE = "instance"  # of a class in view, or the result of a known constructor
    CLASS = "class"
    API = "api"  # a dotted name of a known library
    MODULE = "module"
    DTYPE = "dtype"
    OTHER = "other"


class Varies(IntEnum):
    """How often a value changes between calls of the code that uses it."""

    CONSTANT = 0
    PER_CALL = 1  # a parameter: whatever the caller passes
    PER_ITERATION = 2  # proven to take a new value in each round of a run-time loop


class Tag(IntFlag):
    """What else is known of a value."""

    NONE = 0
    BOOLEAN_MASK = 1
    DATA_SHAPE = 2  # its shape depends on data (nonzero, a boolean mask)
    GROWN = 4  # concatenated onto itself each iteration
    DONATED = 8
    FRESH = 16  # a new object each time this code runs
    UPDATED = 32  # went through an optimiser's apply_updates
    SMALL = 64  # proven under 1 MiB
    BOUNDED = 128  # varies, but over few values (a bool, an enum, i % k, a bucket)
    RAGGED = 256  # its shape varies between iterations (x[:n], the last partial batch)
    TEXT = 512  # a Python string
    ZERO_DIM = 1024  # an array without axes
    MEMBER = 4096  # an entry of a numpy array: a number, unless that has more axes than one
    TOGETHER = 2048  # a member whose shape changes when those of the members beside it do


class Guard(IntFlag):
    """What stands between the fact and certainty on this path."""

    NONE = 0
    TRY = 1  # inside a try whose handler takes tracer errors
    NONE_BRANCH = 2  # in the branch where a parameter is None
    SHAPE_BRANCH = 4  # behind a test of a shape, a type or Tracer
    TRACER_BRANCH = 8  # on the side of such a test, here or in a caller, where there are no tracers


@record
class Step:
    """One call on the way to a fact: the place of the call and the function it enters. `sometimes`: it is made
    under a test, inside the loop if there is one."""

    place: Place
    function: str
    in_loop: bool
    sometimes: bool = False
    declared: bool = False  # no call: `vmap(f)` tells how `f` will be traced


@record
class Proof:
    """How the analysis came to the place.

    `eager`: a chain of calls from module level, main or a test reaches it outside any trace.
    `by_test`: all that is seen to lead to it are tests in other modules.
    `repeated`: the place (a loop or a call in a loop) that makes this code run again and again, if any.
    `why_traced`: the boundary, transform or control-flow call that traces this code, if any.
    """

    level: str  # "eager", "grad", "vmap" or "jit"
    eager: bool = False
    repeated: Place | None = None
    why_traced: Place | None = None
    chain: tuple[Step, ...] = ()
    guard: Guard = Guard.NONE
    by_test: bool = False

    def repeats(self, function: str) -> bool:
        """Whether a function on the chain, or at its root, runs again and again: the loop is around its call
        and not only around what it calls."""
        if self.repeated is None:
            return False
        loop = next((i for i, step in enumerate(self.chain) if step.place == self.repeated), None)
        return loop is None or any(step.function == function for step in self.chain[loop:])


@record
class Operand:
    """A value at a use: an argument, an operand, a field.

    `origin` is where the property that matters came from (the loop that varies it, the call that made the
    data-dependent shape, the expression that makes a fresh object); `origin_kind` is a word for it ("loop
    index", "enumerate counter", "accumulator", "list element", "len", "item", "int of array", "lambda",
    "partial", "optimizer", "instance", "list", ...). `path` leads from the argument to a leaf of it
    (".step", "['n']", "[0]").
    """

    place: Place
    kind: Kind
    varies: Varies = Varies.CONSTANT
    tags: Tag = Tag.NONE
    name: str | None = None  # the plain or dotted name passed, if it is one
    parameter: str | None = None  # the callee's parameter it binds
    index: int | None = None  # its position in the callee's signature
    keyword: bool = False  # passed by keyword
    constant: object = None
    origin: Place | None = None
    origin_kind: str = ""
    path: str = ""
    leaves: tuple[Operand, ...] = ()
    class_name: str = ""  # of an instance or class: dotted name
    hashing: str = ""  # "value", "identity", "unhashable" or "" (unknown): how a jit cache would key it
    fresh_in: str = ""  # of a FRESH one: "loop" (new in each iteration) or "call" (in each call of `made_in`)
    made_in: str = ""  # qualified name of the function that makes a FRESH one
    static_field: bool = False  # a field that is part of a pytree's structure
    choices: tuple[object, ...] = ()  # what a loop variable takes in turn, where all that is known
    rows: Place | None = None  # the sequence it runs over, which other operands may share
    written: tuple[Place | None, ...] = ()  # where each of the choices stands

    def walk(self) -> Iterator[Operand]:
        """The value and every leaf in it, outermost first."""
        yield self
        for leaf in self.leaves:
            yield from leaf.walk()

    @property
    def shape_varies(self) -> bool:
        """An array, or a container of arrays, that has not the same shape each time."""
        return bool(self.tags & (Tag.DATA_SHAPE | Tag.GROWN | Tag.RAGGED))

    @property
    def varying_scalar(self) -> bool:
        """A Python number or string that takes an open set of values, a new one each iteration."""
        python = self.kind in (Kind.SCALAR, Kind.SHAPE) or Tag.TEXT in self.tags
        return python and self.varies is Varies.PER_ITERATION and Tag.BOUNDED not in self.tags


_ARRAY_USES = frozenset({"arithmetic", "comparison", "where", "index", "returned"})
_PYTHON_USES = frozenset({"range", "branch", "slice", "shape", "list index"})


@record
class Parameter:
    """A parameter of a jitted function and how the body uses it."""

    name: str
    has_default: bool = False
    keyword_only: bool = False
    positional_only: bool = False
    annotation: str = ""
    # "arithmetic", "where", "index", "range", "branch", "slice", "shape", "list index", "call", ...
    uses: frozenset[str] = frozenset()
    default: str = ""  # as `repr` shows it, where it is a literal

    @property
    def takes_array(self) -> bool:
        """Every use of it in the body is known and serves an array as well as a Python number."""
        return bool(self.uses) and self.uses <= _ARRAY_USES

    @property
    def python_use(self) -> str:
        """A use that only a Python number can serve ("range", "shape", ...), or ""."""
        return min(self.uses & _PYTHON_USES, default="")


@record
class Boundary:
    """A jit boundary.

    static, donated: resolved parameter names and indices; None when they could not be understood.
    `fresh`: "" when the callable is stable, else what makes it new ("lambda", "nested function", "partial",
    "bound method", "transform of a function", "nnx").
    """

    place: Place  # the decorator or the jit call
    api: str  # canonical dotted name: jax.jit, equinox.filter_jit, flax.nnx.jit...
    flavour: str  # "jax", "pmap", "filter", "nnx", "linen"
    form: str  # "decorator", "call", "immediate" (jit(f)(x))
    function: str = ""  # qualified name of the wrapped function, "" when unresolved
    definition: Place | None = None
    library: str = (
        ""  # canonical dotted name of the wrapped function, where it is a library's: `jax.lax.collapse`
    )
    parameters: tuple[Parameter, ...] = ()
    static: frozenset[str | int] | None = frozenset()
    donated: frozenset[str | int] | None = frozenset()
    forms_alike: bool = True  # an argument means the same by keyword and by position, as far as is in view
    fresh: str = ""
    made_in: str = ""  # of a fresh callable: qualified name of the function that makes it
    in_class: str = ""  # the class whose method it decorates
    static_self: bool = False
    self_hashing: str = ""  # of a static self, as `Operand.hashing`; "" for Equinox and Flax modules
    self_holds_arrays: bool = False
    updates: bool = False  # the body returns what an optimiser updated
    returns_argument: frozenset[str] = frozenset()  # parameters whose updated value the body returns


@record
class Fact:
    """What every fact has."""

    place: Place
    symbol: str
    proof: Proof


# ---------------------------------------------------------------- boundaries


@record
class JitCall(Fact):
    """A boundary is made here.

    `fresh_in`: "loop" when a new callable is jitted in each iteration of a loop here, "call" when in each
    call of this function, "" when the callable is stable. `kept`: the result is stored in a container, an
    attribute or a cache, or returned. `uses`: calls of it in this function. `only_lowered`: `.lower(` only.
    `only_traced`: a scan or another loop of jax gets it as its body, and nothing else calls it.
    """

    boundary: Boundary
    fresh_in: str = ""
    kept: bool = False
    guarded: bool = False  # made under an `is None` / `not in` test, or in a cached function
    uses: tuple[Place, ...] = ()
    returned: bool = False  # the enclosing function returns it: as fresh as that function's call
    only_lowered: bool = False
    only_traced: bool = False
    literal_loop: bool = False  # the only loop is a comprehension over a literal display of at most 8


@record
class BoundaryUse(Fact):
    """A boundary is called.

    `rebinds` are the argument names (plain or dotted) that the statement assigns from the result.
    `reads_after` are argument names whose old value is read afterwards on some path.
    """

    boundary: Boundary
    arguments: tuple[Operand, ...]
    loop: Place | None = None  # the innermost loop around the call, here
    rebinds: tuple[str, ...] = ()
    reads_after: tuple[str, ...] = ()
    starred: bool = False  # *args or **kwargs: the binding is not known
    several: bool = False  # it may be another callable that is called here, with another signature
    receiver: Operand | None = None  # the object whose jitted method is called, where it is in view

    def is_static(self, argument: Operand) -> bool:
        """Whether an argument stands at a position known to be static."""
        static = self.boundary.static or frozenset()
        return (argument.parameter if argument.keyword else argument.index) in static

    def hands_over(self, other: BoundaryUse, arguments: Iterable[Operand]) -> bool:
        """Whether it gives the boundary what another call in the same function gives by `arguments`."""
        passed = (value for argument in self.arguments for value in argument.walk())
        given = {(a.parameter, a.index, a.name, a.origin) for a in passed if a.name}
        same = self.boundary.place == other.boundary.place and self.symbol == other.symbol
        return same and all((a.parameter, a.index, a.name, a.origin) in given for a in arguments)


@record
class CachesCleared(Fact):
    """Compiled code is thrown away: all of it, or that of one boundary (`step.clear_cache()`).

    `loop` is the innermost loop around the call, here. `sometimes`: it stands under a test, inside that loop if
    there is one. `consumers` are the bodies of the loops over what this code gives, as a generator does: it runs
    again between their rounds.
    """

    api: str
    boundary: Boundary | None = None
    loop: Place | None = None
    sometimes: bool = False
    consumers: tuple[Place, ...] = ()


@record
class GuardOrder(Fact):
    """`assert_max_traces` wraps a boundary. `inner` is the boundary's own call or decorator."""

    api: str
    inner: Place


@record
class Instantiation(Fact):
    """A class of the project is instantiated. `class_place` is its definition."""

    class_place: Place
    class_name: str
    in_loop: bool
    holds_arrays: bool


@record
class FieldStore(Fact):
    """`obj.field = value` where the object is an instance in view (not `self` in its own __init__). `loop` is the
    innermost loop around it, or around the call in a loop that leads to it."""

    owner: Operand
    field: str
    value: Operand
    in_loop: bool
    family: str = ""  # "nnx" when the owner is a flax.nnx.Module
    loop: Place | None = None


@record
class EqualStatic(Fact):
    """A boundary gets a static number (place) that equals an earlier one but is of another type: the cache
    compares with `==`, and the trace of the earlier one answers.

    `path` leads from the argument to the number, `call` is the later call. `uses` are what traced code does
    with the number, in the words of `Parameter.uses`.
    """

    boundary: Boundary
    parameter: Parameter
    path: str
    uses: frozenset[str]
    value: object
    answered_by: object
    earlier: Place
    call: Place
    written: Place | None = None  # the number itself, where it stands elsewhere


@record
class UnstableStructure(Fact):
    """A boundary's argument that is not always the same tree; the place is where the odd form is made.

    `how`, from the second round of a loop on: "none" (None first, something later), "keys" (a dict with other
    keys), "length" (a sequence of another length), "empty" (nothing in it at first); in some rounds:
    "optional key", "optional value" (None or not); in every round: "growing" (a list that gets longer).
    `name` leads to the part; `use` is the call, `loop` and the proof are those of it.
    """

    name: str
    how: str
    use: Place
    boundary: Boundary
    loop: Place | None = None


@record
class WeakStart(Fact):
    """A Python number, or an array made of one alone, that a loop passes to a boundary first; what it gets back
    and passes from then on has a dtype of its own. `whole`: of integers."""

    name: str
    use: Place
    boundary: Boundary
    loop: Place | None = None
    whole: bool = False


@record
class Growth(Fact):
    """A concatenation that makes what it is stored in longer each time. `name` is where that is; `use` is the
    call of a boundary that is handed it, and `loop` and the proof are those of that call."""

    name: str
    use: Place
    boundary: Boundary
    loop: Place | None = None


# ---------------------------------------------------------------- inside a trace


@record
class TracedBranch(Fact):
    """Python asks a traced value for a concrete one. `how`: "if", "while", "assert", "and/or", "not", "in",
    "range()", "int()", "float()", "bool()", ".item()", "min()", "format", "index", "math.sqrt", ..."""

    how: str
    operand: Operand


@record
class NumpyOnTraced(Fact):
    """numpy meets a traced value. `how`: "call", "index" (array indexed by a tracer), "assign" (written from
    one), "method" (of a numpy array, that takes one). `api` is the canonical name for a call, or `.take`."""

    api: str
    how: str
    operand: Operand
    silent: bool = False  # no exception: np.array_equal and array_equiv return False


@record
class DataDependentShape(Fact):
    """A traced shape would depend on data. `how`: "call" (of a function, or of the method `.repeat`), "mask read",
    "mask write"."""

    api: str
    how: str
    operand: Operand | None


@record
class TracedShape(Fact):
    """A traced value where a static size is needed. `how`: "slice bound", "shape", "length", "sections"..."""

    api: str
    how: str
    operand: Operand


@record
class ImpureCall(Fact):
    """Traced code asks something other than its arguments, which the trace keeps the answer of.

    `reads`: "clock", "random", "environment", "file", "identifier", "input", "network" or "iterator" (`next`
    of one that outlives the trace). `api` is the canonical name. `name` is the variable or the file, if known.
    """

    api: str
    reads: str
    name: str = ""


@record
class SideEffect(Fact):
    """Traced code reaches out of its trace.

    `how`: "append" (a method puts a tracer into a container that outlives the trace), "item", "attribute",
    "rebind" (of a global or nonlocal name), "lost" (a change of the trace's own copy of an argument, which
    nobody gets), "count" (a Python number is changed) or "print". `kept` says what holds it: "global",
    "closure", "attribute", "argument". `target` is the dotted name that is written, `api` the call.
    """

    how: str
    target: str
    kept: str
    operand: Operand
    api: str = ""


@record
class CachedTracer(Fact):
    """A cache is filled with a tracer. `place` is the decorator, or the store.

    `how`: "lru_cache", "cache", "cached_property" or, filled on a miss, "dict", "attribute" or "variable".
    `calls` are the places in traced code that ask it.
    """

    how: str
    function: str
    name: str = ""
    calls: tuple[Place, ...] = ()


@record
class StaleRead(Fact):
    """Traced code read an outer name, and the program changed it afterwards.

    `place` is the change. `subject`: "global", "attribute", "closure", "item", "self attribute", "environment".
    """

    name: str
    subject: str
    read: Place
    boundary: Boundary | None
    earlier_call: Place
    later_call: Place | None


@record
class AbsorbedMutation(Fact):
    """A test changes (place) what the trace of a boundary has read, and calls the boundary, which outlives the
    test, without a new trace. `others` are calls in view that may have traced it before."""

    name: str
    read: Place
    boundary: Boundary
    call: Place
    others: tuple[Place, ...] = ()


# ---------------------------------------------------------------- memory


@record
class ReadAfterDonation(Fact):
    """A donated argument's name is read (place) after the call."""

    name: str
    call: Place
    boundary: Boundary


@record
class DoubleDonation(Fact):
    """One array reaches a call twice, once at least to be donated. `place` is where it gets its second name."""

    name: str
    call: Place
    other: Place
    boundary: Boundary
    made: Place | None = None  # where the array is made, under none of the two names


@record
class SharedArguments(Fact):
    """A call (place) that donates nothing and rebinds what it passes gets one array under two arguments: each
    could not be donated beside the other. `names` are the two as they are written where they come from."""

    names: tuple[str, str]


@record
class UselessDonation(Fact):
    """A boundary donates arguments that no output can take. `why`: "numbers" (every output is one), "taken" (the
    others are new values of other parameters), "dtype" (integers come in, floating numbers out) or "absent" (no
    call has so many arguments)."""

    boundary: Boundary
    parameters: tuple[str, ...]
    why: str


@record
class HostBufferMutated(Fact):
    """A numpy array is written (place) after jax was given it without a copy.

    `kept`: the jax array is stored or returned, so it may be read after the write. `again`: the write comes
    first in the function, and meets the array of the call before. `by_method`: the function calls a method of the
    buffer's object, which writes it.
    """

    name: str
    transfer: Place
    api: str
    kept: bool
    again: bool = False
    by_method: bool = False


@record
class Scan(Fact):
    """A `lax.scan` or `lax.map` and what becomes of its stack.

    `stack`: "unused", "last" (only ys[-1]), "reduced" (only by a reduction over axis 0), "kept" (any other
    use, or unknown), "none" (the body stacks nothing). `uses` are the places that decide.
    """

    api: str
    stack: str
    uses: tuple[Place, ...] = ()
    reducer: str = ""
    length: int | None = None
    body: Place | None = None
    only_uses: bool = False  # the uses are all that is read of the stack: no shape, no part of an entry
    forward: bool = False  # it surely runs from the first entry to the last
    carries_it: bool = False  # all that is read is the last entry, which is the carry that the scan returns
    surely_runs: bool = (
        False  # of a stack whose last entry is used: it takes a step, whoever calls the function
    )
    assigned: tuple[str, str] = ("", "")  # the names given to carry and ys
    of_blocks: bool = False  # the body applies a block of a network, whose parameters it is given
    differentiated: bool = False  # it runs in a function that a gradient is taken of
    checkpointed: bool = False  # the body, or code around it, recomputes for the backward pass
    small: bool = False  # a number for each step, as far as the steps are in view, or surely less than 1 MiB


@record
class WideMap(Fact):
    """A `vmap` over variants of one thing, whose stacked results are reduced at once, or are copies of an array.

    `variants`: "keys", "draws", "indices", "directions", "copies" or "parameter" (up to the caller).
    `number` of them, if known. `makes_arrays`: the mapped function makes arrays of its own. `copies`: it writes
    one entry of a captured array.
    """

    variants: str
    number: int | None = None
    reducer: str = ""
    uses: tuple[Place, ...] = ()
    function: str = ""
    makes_arrays: bool = False
    calls_model: bool = False
    copies: bool = False


@record
class Chunked(Fact):
    """A `lax.map` in chunks that are as large as all there is to map.

    `why`: "length" (the chunk is the length of what is mapped), "default" (it is, unless `parameter` is passed),
    "number" (`chunk` is no less than `length`) or "part" (what is mapped was reshaped to one part).
    """

    why: str
    chunk: int | None = None
    length: int | None = None
    parameter: str = ""


@record
class Load(Fact):
    """A checkpoint is read into a model or state that was built for nothing else. `made`: the call that built it;
    `skeleton`: the name it had, if any. `sometimes`: under a condition, without which what was built is kept."""

    api: str
    skeleton: str
    made: Place
    sometimes: bool = False


@record
class EagerInit(Fact):
    """Parameters are made outside jit.

    `how`: "forward" (by running the model `name`), "mapped" (by a `vmap` of the function `name` over `number`
    keys), "reshaped" (in another shape than is wanted: `name` is "sliced", "squeezed" or "transposed") or "scanned"
    (a stack of parameters is transposed to be scanned over).
    """

    how: str
    name: str = ""
    number: int | None = None


@record
class Unrolled(Fact):
    """A Python loop in traced code, each round of which does array work: every one is compiled by itself.

    `place` is what it runs over, or its test. `rounds` counts those of the loops in it too; None when they are
    as many as an axis of an array is long. `bound`: "constant", "default" (of the parameter `name`) or "shape"
    (of the array `name`). `form`: "for", "while" or "comprehension".
    """

    loop: Place
    rounds: int | None
    bound: str
    name: str = ""
    form: str = "for"


@record
class FreshControlBody(Fact):
    """Control flow outside jit that is compiled each time.

    `why`: as Boundary.fresh or "instance" for a body made anew (in `made_in`, for each round of a "loop" or for
    each "call" of it: `fresh_in`); "always" for a function that makes one itself; the name of a derivative
    ("grad", "value_and_grad", "vjp"...) of a function that contains control flow: then the place is the call of
    the derivative and `inside` that of the control flow.
    `shows_effects`: a loop around it prints or reads values, as only code outside a trace does.
    """

    api: str
    why: str
    loop: Place | None
    fresh_in: str = ""
    made_in: str = ""
    inside: Place | None = None
    shows_effects: bool = False


@record
class Replication(Fact):
    """A value (`name`, if it has one) is copied to each device, along a new leading axis for pmap."""

    api: str
    name: str = ""


@record
class DatasetTransfer(Fact):
    """A whole data set is put on the device, and outside any trace a part of it is `read` again and again."""

    name: str
    read: Place


@record
class PeakRead(Fact):
    """A high-water mark of memory is read. `over`: what the loop around it goes through ("arms" of a comparison,
    "steps", "devices", "" for none), or around the calls of the function that reads it. `callers` are those calls
    in the module. `reset`: the module sets the mark back; `own_process`: it starts processes."""

    counter: str
    over: str = ""
    callers: tuple[Place, ...] = ()
    reset: bool = False
    own_process: bool = False


@record
class Attention(Fact):
    """A softmax over every query against every key, and the product of its weights with the values."""

    scores: Place
    output: Place


@record
class Capture:
    """An outer name that a jitted function reads. `what`: "array", "model" or "parameters" (a tree of arrays)."""

    name: str
    place: Place
    what: str
    elements: int | None = None  # how many the arrays have, if known


@record
class CapturedConstants(Fact):
    """Arrays that become constants of a boundary's executables, the weightiest first; `place` is its read.
    `in_module`: the boundary is made in a method of a module, which is usually traced itself."""

    boundary: Boundary
    captures: tuple[Capture, ...]
    in_module: bool = False


@record
class Append(Fact):
    """A loop, or a function called in one, puts a value that may be an array into a container it keeps.

    `over` is what the loop runs over: "stream" (no end in sight: `while True`, a video, `count()`), "loader",
    "range" (a known number of rounds), "literal", "anew" (each round makes the object that keeps it) or ""
    (unknown). `emptied`: the container loses members too. `sampled`: only in every so many rounds. `host_copy`: of
    an array on the device that is not proven a number. `decoded`: a frame from a video library. `output`: what of a
    boundary's result it is: "tree", "array", "number", "unknown", or "" (none); `made_by`: that boundary's call.
    `rounds` of the loop, if known.
    `collected`: by a comprehension. `joined`: the container becomes one array in the end.
    """

    container: str
    value: Operand
    loop: Place | None = None
    over: str = ""
    emptied: bool = False
    sampled: bool = False
    host_copy: bool = False
    decoded: bool = False
    output: str = ""
    made_by: Place | None = None
    rounds: int | None = None
    collected: bool = False
    joined: bool = False


@record
class CacheStore(Fact):
    """A cache that keeps what it is given.

    `how`: "lru_cache", "cache", "cached_property" (decorators) or "dict" (a fill on a miss). `key` describes
    what varies in the key; `key_open` is whether the set of keys is unbounded; None when unknown.
    `key_made_of` says what went into the key: "shape", "id", "content", "bucket" (few values by construction).
    """

    how: str
    function: str
    bounded: bool
    on_method: bool
    parameters: tuple[Parameter, ...] = ()
    key: Operand | None = None
    key_open: bool | None = None
    value: Operand | None = None
    value_is_array: bool = False
    value_is_boundary: bool = False
    instance_holds_arrays: bool = False
    evicts: bool = False
    varying_calls: tuple[Place, ...] = ()  # calls whose arguments vary per iteration or come from data
    key_made_of: frozenset[str] = frozenset()
    executable: bool = False  # what is kept is a jitted or a compiled function
    pins: str = ""  # the class of an object with arrays that is in the keys, and so is never freed


# ---------------------------------------------------------------- precision


@record
class WideRequest(Fact):
    """A 64-bit dtype is asked of jax (place: where it is named) and nothing in view turns on 64-bit mode.

    `api` is the call that takes it (".astype" for the method), `dtype` its plain name ("float64").
    """

    api: str
    dtype: str


@record
class LowPrecisionSolve(Fact):
    """A value of at most 16 bits (place: where it is made so, if known) is solved with at `use`.

    `solver` is the function or the maker of the optimiser, `dtype` the name of the dtype if known.
    """

    solver: str
    use: Place
    dtype: str
    operand: Operand


@record
class TreeUpcast(Fact):
    """A whole tree of parameters or gradients is cast to float32 or float64, leaf by leaf, at most scaled.

    `low`: it is known to be of low precision; `names_low`: or its module speaks of such a dtype. `rebinds`: the
    result takes the name of the tree. `read_again`: where the tree is read after the cast; `copy_read_again`: where
    a second statement reads the copy. Both are looked for in the function, and in those that call it for the copy:
    `caller` is such a call.
    """

    api: str
    dtype: str
    operand: Operand
    low: bool
    rebinds: bool
    read_again: Place | None = None
    names_low: bool = False
    copy_read_again: Place | None = None
    caller: Place | None = None


# ---------------------------------------------------------------- configuration and import


class ModuleRole(str, Enum):
    """Whether a module's import is somebody else's (library) or the run itself (application, test)."""

    LIBRARY = "library"
    APPLICATION = "application"
    TEST = "test"


@record
class ConfigChange(Fact):
    """A jax configuration value is set.

    `how`: "config.update", "config attribute", "environ", "call" (set_cache_dir, initialize_cache).
    `at_import`: runs when the module is imported. `value` is the constant, if known.
    `after_jax_import`, `after_device_use`: the first such place before it in this module, if any.
    `follows_parameter`: the value, or the branch it stands in, depends on a parameter of the function.
    `called_from`: the calls of that function in the project's own library modules.
    """

    option: str
    how: str
    value: object
    value_known: bool
    at_import: bool
    role: ModuleRole
    in_main_guard: bool = False
    after_jax_import: Place | None = None
    after_device_use: Place | None = None
    follows_parameter: bool = False
    called_from: tuple[Place, ...] = ()


@record
class ImportTimeDeviceWork(Fact):
    """The first call at import that initialises the backend; `others` are the further ones of the file."""

    api: str
    role: ModuleRole
    others: tuple[Place, ...] = ()
    where: str = "module level"  # "module level", "class body", "default argument", "call"


@record
class ProcessStart(Fact):
    """A process is forked (place: the line that chooses fork, else the one that makes the pool or process).

    `method`: "fork" where somebody chose it, "default" where it is what the platform does; "spawn" where it is
    not forked, or has been started before: then it is known only by its `worker`, the first device work of what
    the process is given to run, if any. `after_device_use` is the first device work
    before it; `order` are the lines of one function that lead to that and to this.
    """

    api: str
    method: str
    start: Place
    worker: Place | None = None
    after_device_use: Place | None = None
    order: tuple[Place, ...] = ()


# ---------------------------------------------------------------- dependency files


@record
class Requirement:
    """A package that a dependency file asks for, or a lock file has chosen.

    `name` and `extras` are normalised, `clauses` are (operator, version) pairs of PEP 440. `group` is the extra
    or group that asks for it, "" for what is always installed. `source` names the index, file or repository
    that it is taken from, where the file says so.
    """

    place: Place
    name: str
    extras: frozenset[str] = frozenset()
    clauses: tuple[tuple[str, str], ...] = ()
    group: str = ""
    source: str = ""
    conditional: bool = False  # holds for some versions of Python or some machines only
    constraint: bool = False  # says which version, not that it is installed
    conda: bool = False  # installed by conda, whose solver knows its own packages


@record
class DependencySet(Fact):
    """What one environment gets: what a file asks for, with one extra or group, or what a lock file holds.

    `environment` is "", or names the extra or group ("the extra `gpu`"). `indexes` are the addresses of further
    package indexes. Locked sets hold one version of each package, and only packages the rules ask about.
    `by_default`: of groups that are installed unless told otherwise.
    """

    environment: str
    requirements: tuple[Requirement, ...]
    locked: bool = False
    indexes: tuple[str, ...] = ()
    by_default: bool = False
