"""Objects and calls that give another value each time: random generators, clocks, identifiers, deques."""

from __future__ import annotations

from jaxlint.flow.domain.joining import join_all
from jaxlint.flow.domain.kinds import (
    CONSTANT,
    DEVICE,
    FOREIGN,
    HOST,
    PARAMETER,
    SCALAR,
    TRACED,
    TREE,
    UNKNOWN,
)
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.tags import BOUNDED, TEXT, WEAK
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, UNKNOWN_VALUE, Origin, Value, collection, tree
from jaxlint.flow.frame import Call, Frame, api_call
from jaxlint.flow.shapes.layer_sizes import layer_elements, with_optimizer
from jaxlint.flow.shapes.made_sizes import size
from jaxlint.flow.shapes.text_lengths import drawn, is_text, parted
from jaxlint.flow.statements.iteration import element_of, iterated

_ARRAY_DRAWS = frozenset(
    {"permutation", "choice", "bytes", "multivariate_normal", "dirichlet", "multinomial", "permuted"}
)
_PYTHON_DRAWS = frozenset(
    {"random", "uniform", "gauss", "randint", "randrange", "normalvariate", "betavariate"}
)
_FROM_TEXTS = frozenset({"choice", "choices", "permutation", "sample"})
_SPREAD_SIZES = frozenset({"rand", "randn"})  # each argument is one size
_SIZE_POSITION = {
    "choice": 1,
    "random": 0,
    "standard_normal": 0,
    "integers": 2,
    "randint": 2,
    "random_sample": 0,
    "uniform": 2,
    "normal": 2,
    "exponential": 1,
    "poisson": 1,
}


def per_round(frame: Frame) -> int:
    """How a value that is new each time varies here."""
    return PER_ITERATION if frame.loop else PER_CALL


def draw(frame: Frame, name: str, call: Call) -> Value:
    """A method of a numpy random generator: an array with a size, else a number (`integers` gives a numpy one)."""
    if name in _SPREAD_SIZES and call.positional:  # `rng.randn(500, 8)`
        return size(frame, HOST, call.node, tree(call.positional)) or Value(HOST)
    position = _SIZE_POSITION.get(name, 99)
    shape = call.argument(position, "size")
    if name in _FROM_TEXTS:
        of_texts = _of_texts(frame, name, HOST, call)
        if of_texts is not None:
            return of_texts
    if name in _ARRAY_DRAWS or shape is not None:
        node = call.argument_node(position, "size") or call.node
        varied = size(frame, HOST, node, shape) if shape is not None and not frame.level else None
        return varied or Value(HOST)
    if name == "integers":
        origin = Origin(frame.module, call.node, "random number")
        return Value(HOST, per_round(frame), 0, None, None, origin, 1)
    return Value(SCALAR, per_round(frame), 0, None, None, Origin(frame.module, call.node, "random number"))


def _generator(frame: Frame, api: str, call: Call) -> Value:
    made = Foreign(api, None, 0, call.node)
    made.replays = frame.level > 0
    return Value(FOREIGN, data=made)


def _of_texts(frame: Frame, name: str, kind: int, call: Call) -> Value | None:
    """What is drawn from letters or words: an array by numpy's generators, a list by Python's."""
    population = call.argument(0, "a", "seq", "population")
    if name == "permutation":
        return drawn(frame, population, UNKNOWN_VALUE, call, HOST)
    if name == "choice":
        return drawn(frame, population, call.argument(1, "size"), call, kind)
    count = call.argument(99 if name == "choices" else 1, "k")
    return drawn(frame, population, count or UNKNOWN_VALUE, call, TREE)


@api_call("numpy_random")
def numpy_random(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if last in ("default_rng", "RandomState", "Generator"):
        return _generator(frame, "numpy.random.Generator", call)
    if last in ("seed", "SeedSequence", "get_state", "set_state"):
        return UNKNOWN_VALUE
    return draw(frame, last, call)


@api_call("random")
def python_random(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The standard library's `random`."""
    if last == "Random":
        return _generator(frame, "random.Random", call)
    if last in _PYTHON_DRAWS:
        return Value(
            SCALAR, per_round(frame), 0, None, None, Origin(frame.module, call.node, "random number")
        )
    of_texts = _of_texts(frame, last, TREE, call) if last in _FROM_TEXTS else None
    return UNKNOWN_VALUE if of_texts is None else of_texts


@api_call("clock")
def clock(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    if last == "sleep":
        return UNKNOWN_VALUE
    return Value(SCALAR, per_round(frame), 0, None, None, Origin(frame.module, call.node, "clock"))


@api_call("identifier")
def identifier(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    return Value(UNKNOWN, per_round(frame), TEXT, None, None, Origin(frame.module, call.node, "identifier"))


@api_call("words")
def words(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`re.findall(r"\\w+", line)`: parts of a text, where the pattern has no groups."""
    form, subject = call.argument(0, "pattern"), call.argument(1, "string")
    plain = form is not None and form.kind == CONSTANT and "(" not in str(form.data)
    if frame.level or subject is None or not plain or not is_text(subject):
        return UNKNOWN_VALUE
    return parted(frame, subject, call)


@api_call("container")
def container(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`deque()`, `defaultdict(list)`, `OrderedDict()`: containers to be filled."""
    word = "list" if last == "deque" else "dict"
    if last.startswith("Weak"):
        return Value(UNKNOWN, 0, WEAK)
    full = BOUNDED if last == "deque" and call.argument(1, "maxlen") is not None else 0
    return tree([] if last == "deque" else {}, Origin(frame.module, call.node, word), full)


@api_call("progress")
def progress(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`tqdm(xs)`: the same members, with a bar."""
    return call.argument(0, "iterable", "sequence") or UNKNOWN_VALUE


@api_call("progress_range")
def progress_range(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`trange(n)`, `itertools.count()`."""
    origin = Origin(frame.module, call.node, "loop index")
    return collection(Value(SCALAR, PER_ITERATION, 0, None, None, origin), origin._replace(word="range"))


@api_call("product")
def product(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """Tuples of one member of each."""
    members = [iterated(frame, value, call.node, call.node) for value in call.positional]
    return collection(tree(members * 2 if last == "pairwise" else members))


@api_call("chain")
def chain(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """The members of all, one after the other."""
    return collection(join_all(element_of(value) for value in call.positional))


@api_call("constructor")
def constructor(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A layer, optimiser or state of a known library."""
    thing = Foreign(dotted, frame.evaluation, frame.loop, call.node)
    return Value(FOREIGN, data=thing, size=layer_elements(frame, dotted, call))


@api_call("state")
def state(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """A training state: a pytree whose optimiser and functions are static leaves."""
    fields: dict[object, Value] = {}
    fields.update((name, value) for name, value in call.keywords.items())
    for name, value in zip(("model", "tx"), call.positional, strict=False):
        fields[name] = value
    made = Value(FOREIGN, data=Foreign(dotted, frame.evaluation, frame.loop, call.node))
    made.element = tree(fields)
    made.size = with_optimizer(fields) if not frame.level else None
    return made


@api_call("tree_leaves")
def tree_leaves(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """Leaves are arrays; `tree_flatten` gives them with the structure."""
    subject = call.argument(0, "tree")
    kind = None
    if subject is not None and subject.kind in (PARAMETER, TRACED):
        kind = TRACED
    elif subject is not None and subject.kind in (DEVICE, TREE) and not frame.level:
        kind = DEVICE
    leaves = collection(
        Value(kind) if kind is not None else UNKNOWN_VALUE, Origin(frame.module, call.node, "list")
    )
    return tree([leaves, UNKNOWN_VALUE]) if last.endswith("flatten") else leaves


__all__ = ["BOUNDED", "draw"]
