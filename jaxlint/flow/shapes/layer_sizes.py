"""How large the layers and the optimisers' states are that libraries make of sizes in view."""

from __future__ import annotations

import ast

from jaxlint.flow.domain.kinds import API, CONSTANT, FOREIGN, FUNCTION, TREE
from jaxlint.flow.domain.sizes import element_count
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, is_number, parts
from jaxlint.flow.frame import Call, Frame, evaluate
from jaxlint.jax_api.layer_sizes import LAYERS, OPTIMIZER_TREES, Size

_HOLDING_NOTHING = frozenset((API, CONSTANT, FUNCTION))
_NO_SIZES = frozenset(
    {"key", "rngs", "stride", "strides", "padding", "dilation", "kernel_init", "bias_init", "embedding_init"}
)
_PARTS = 16  # of a chain
_COUNTS = 4 * _PARTS  # the numbers that an optimiser's state keeps: counts of steps, rates


def layer_elements(frame: Frame, dotted: str, call: Call) -> int | None:
    """A bound on the number of elements of a layer's parameters. In traced code what is made may be mapped."""
    if frame.level or call.starred or not dotted.startswith(("equinox.nn.", "flax.nnx.")):
        return None
    if dotted in ("equinox.nn.Sequential", "flax.nnx.Sequential"):
        return element_count(call.positional[0]) if len(call.positional) == 1 else None
    layer = LAYERS.get(dotted)
    if layer is None:
        return None
    sizes = [_size(call.argument(i, word)) for i, word in enumerate(layer.sizes)]
    others = [*call.positional[len(sizes) :]]
    others += [v for word, v in call.keywords.items() if word not in layer.sizes and word not in _NO_SIZES]
    if None in sizes or any(value.kind not in _HOLDING_NOTHING for value in others):
        return None
    return layer.count(*sizes)


def _size(value: Value | None) -> Size | None:
    """A number, Equinox's "scalar" or a shape."""
    members = parts(value) if value is not None and value.kind == TREE and value.data else [value]
    found: list[int] = []
    for member in members:
        if member is None or member.kind != CONSTANT:
            return None
        number = 1 if member.data == "scalar" else member.data
        if type(number) is not int or number < 0:
            return None
        found.append(number)
    return tuple(found)


def optimizer_trees(last: str, call: Call) -> int | None:
    """How many trees like the parameters the state of an optimiser holds; None where that is not known."""
    if last == "chain":
        members = [v.data.trees if v.kind == FOREIGN else None for v in call.positional]
        known = [m for m in members if m is not None]
        return sum(known) if len(known) == len(members) <= _PARTS and not call.starred else None
    if last == "sgd":
        momentum = call.argument(1, "momentum")
        return int(momentum is not None and not (momentum.kind == CONSTANT and momentum.data is None))
    return OPTIMIZER_TREES.get(last)


def optimizer_state(frame: Frame, call: Call) -> Value:
    """`optimizer.init(params)`: unknown, but for its size."""
    node = call.node
    if frame.level or not isinstance(node, ast.Call) or len(call.positional) != 1:
        return UNKNOWN_VALUE
    count = _of_state(_optimizer(frame, node.func), call.positional[0])
    return Value(UNKNOWN_VALUE.kind, size=count) if count is not None else UNKNOWN_VALUE


def _optimizer(frame: Frame, callee: ast.expr) -> Value:
    """What the method is looked up on, where looking once more does nothing."""
    owner = callee.value if isinstance(callee, ast.Attribute) else callee
    plain = isinstance(owner, ast.Name) or (
        isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name)
    )
    return evaluate(frame, owner) if plain and owner is not callee else UNKNOWN_VALUE


def _of_state(optimizer: Value, params: Value) -> int | None:
    trees = optimizer.data.trees if optimizer.kind == FOREIGN else None
    count = element_count(params) if trees is not None and not is_number(params) else None
    return None if trees is None or count is None else trees * count + _COUNTS


def with_optimizer(fields: dict[object, Value]) -> int | None:
    """A training state: parameters and what the optimiser keeps for them."""
    model = fields.get("params", fields.get("model"))
    tx = fields.get("tx")
    if model is None or tx is None:
        return None
    others = [element_count(v) for name, v in fields.items() if name not in ("params", "model", "tx", "wrt")]
    kept, own = _of_state(tx, model), element_count(model)
    known = [n for n in (*others, kept, own) if n is not None]
    return sum(known) if len(known) == len(others) + 2 else None
