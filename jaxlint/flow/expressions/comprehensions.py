"""Comprehensions and generator expressions: one pass over their element, as of a loop."""

from __future__ import annotations

import ast

from jaxlint.flow.boundaries.clearing import note_consumer
from jaxlint.flow.boundaries.escaping import escape_all
from jaxlint.flow.domain.kinds import DEVICE, HOST, TRACED, TREE
from jaxlint.flow.domain.tags import DATA_SHAPE, EVEN, SHAPED, TOGETHER
from jaxlint.flow.domain.values import PER_CALL, PER_ITERATION, Origin, Value, as_member, collection, tree
from jaxlint.flow.frame import Frame, evaluate, expression
from jaxlint.flow.host_memory.keeping import note_collected
from jaxlint.flow.precision import upcasts
from jaxlint.flow.retrace.drawn_members import made_anew
from jaxlint.flow.retrace.mutation import LoopEnd, LoopStart
from jaxlint.flow.shapes.lengths import of_own_length
from jaxlint.flow.shapes.slices import names_stretch
from jaxlint.flow.shapes.text_lengths import reads_numbers
from jaxlint.flow.statements.assignment import assign
from jaxlint.flow.statements.iteration import LITERAL_DISPLAY, as_iterable, is_literal_display, iterated
from jaxlint.flow.trace import masks, traced
from jaxlint.flow.trace.unrolled import note_unrolled
from jaxlint.index.walking import ComprehensionNode
from jaxlint.jax_api.transforms import JIT


@expression(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
def comprehension(frame: Frame, node: ComprehensionNode) -> Value:
    names = frame.names
    frame.names = dict(names)
    literal = is_literal_display(node.generators[0].iter)
    deeper = 0
    filtered = False
    inherited: Value | None = None  # what already has a length that depends on data
    for generator in node.generators:
        iterable = as_iterable(frame, evaluate(frame, generator.iter), generator.iter)
        traced.iterate(frame, generator.iter, iterable)
        note_consumer(frame, generator.iter, [node.value if isinstance(node, ast.DictComp) else node.elt])
        if not literal:
            frame.loop += 1
            deeper += 1
        assign(frame, generator.target, iterated(frame, iterable, generator.iter, generator))
        for test in generator.ifs:
            traced.truth(frame, test, evaluate(frame, test), "if")
            filtered |= iterable.varies >= PER_ITERATION or (
                frame.loop > deeper
                and not masks.leaves_the_same(frame, generator.iter, generator.target, generator.ifs)
            )
        own = of_own_length(frame, generator.iter, iterable)
        if (
            own is not None
            and not isinstance(node, ast.DictComp)
            and reads_numbers(node.elt, generator.target, own)
        ):
            filtered = False
        elif own is not None:
            inherited = own
        elif len(node.generators) == 1 and not generator.ifs:
            if iterable.tags & EVEN:
                inherited = iterable
            elif iterable.kind == HOST and names_stretch(frame, generator.iter):
                inherited = Value(TREE, PER_ITERATION, EVEN)
    frame.literal_loops += literal
    frame.log.append(LoopStart())
    if not literal:
        frame.comprehensions.append(node)
    exact = literal and isinstance(node, ast.ListComp) and len(node.generators) == 1
    if isinstance(node, ast.DictComp):
        evaluate(frame, node.key)
        value = evaluate(frame, node.value)
    else:
        value = evaluate(frame, node.elt)
    if not literal and isinstance(node, (ast.ListComp, ast.DictComp)):
        note_collected(frame, node, value)
        upcasts.collected(frame, node)
    frame.literal_loops -= literal
    frame.log.append(LoopEnd())
    if not literal:
        frame.comprehensions.pop()
    frame.loop -= deeper
    if frame.level >= JIT and not frame.quiet and len(node.generators) == 1:
        note_unrolled(frame, node, iterable, value)
    frame.names = names
    escape_all([value])
    members = _members(frame, node, iterable) if value.tags & SHAPED else None
    if members is not None:
        return tree(members, Origin(frame.module, node, "list"))
    word = {"ListComp": "list", "SetComp": "set", "DictComp": "dict"}.get(type(node).__name__, "generator")
    member = (
        value.but(tags=value.tags | TOGETHER) if _changes_together(frame, node, value) else as_member(value)
    )
    under = frame.branches if isinstance(node, ast.DictComp) else None  # as of a display
    result = made_anew(frame, collection(member, Origin(frame.module, node, word, under)), [iterable])
    if inherited is not None:
        result.tags |= inherited.tags & (SHAPED | EVEN)
        result.varies = inherited.varies
        result.origin = inherited.origin or result.origin
    elif filtered and not literal and not isinstance(node, ast.DictComp):
        result.tags |= DATA_SHAPE
        result.varies = PER_ITERATION if frame.loop else PER_CALL
    if exact and value.kind in (DEVICE, HOST, TRACED):
        result.size = value.size
    return result


def _members(frame: Frame, node: ComprehensionNode, iterable: Value) -> list[Value] | None:
    """What each member of a short sequence becomes: of `[x[rows] for x in (images, labels)]` each has its own
    shape, which changes where the rows do."""
    generator = node.generators[0]
    known = iterable.kind == TREE and iterable.data.__class__ is list
    if (
        isinstance(node, (ast.DictComp, ast.SetComp))
        or len(node.generators) != 1
        or generator.ifs
        or not known
    ):
        return None
    if not 0 < len(iterable.data) <= LITERAL_DISPLAY:
        return None
    return [_made_of(frame, generator.target, member, node.elt) for member in iterable.data]


def _changes_together(frame: Frame, node: ComprehensionNode, value: Value) -> bool:
    """Whether what is made of each member changes its shape even where the members keep theirs:
    `{name: column[rows] for name, column in table.items()}`."""
    if not value.tags & SHAPED or value.varies < PER_ITERATION or len(node.generators) != 1:
        return False
    target, array = node.generators[0].target, Value(HOST)
    plain = tree([array] * len(target.elts)) if isinstance(target, ast.Tuple) else array
    made = node.value if isinstance(node, ast.DictComp) else node.elt
    return bool(_made_of(frame, target, plain, made).tags & SHAPED)


def _made_of(frame: Frame, target: ast.expr, member: Value, made: ast.expr) -> Value:
    names = frame.names
    frame.names = dict(names)
    frame.quiet += 1
    assign(frame, target, member)
    value = evaluate(frame, made)
    frame.quiet -= 1
    frame.names = names
    return value
