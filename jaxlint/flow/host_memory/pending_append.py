"""What a loop puts into a list or dict, round after round: judged when the run is over."""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import Any

from jaxlint.finding import Place
from jaxlint.flow.domain.kinds import INSTANCE, UNKNOWN
from jaxlint.flow.domain.operand import operand
from jaxlint.flow.domain.values import Value
from jaxlint.flow.facts import Append
from jaxlint.flow.frame import Frame
from jaxlint.flow.host_memory.copied import copies_in
from jaxlint.flow.host_memory.growing_calls import ENDLESS, growing_call, is_anothers
from jaxlint.flow.host_memory.growing_loops import (
    is_counted,
    loop_that_makes,
    makes_anew,
    repeated,
    targets,
)
from jaxlint.flow.host_memory.host_copies import copy_of_device_array
from jaxlint.flow.host_memory.kept_bounds import is_emptied, is_joined, is_sampled
from jaxlint.flow.host_memory.kept_rounds import adds_in, all_rounds, kind_of_loops
from jaxlint.flow.pending import PendingFact
from jaxlint.flow.statements.loop_sources import has_decoder, is_decoded, is_generated, kind_of_loop
from jaxlint.flow.syntax.bindings import Bindings, bindings_of, scope_of
from jaxlint.flow.syntax.outputs import is_called_a_number, output_of
from jaxlint.index.walking import walk
from jaxlint.index.written_names import last_name
from jaxlint.record import replace

ADDING = frozenset({"append", "appendleft", "extend", "insert", "add"})


class PendingAppend(PendingFact):
    """A value put into a container that outlives the round."""

    __slots__ = ("around", "container", "copy", "frame", "loop", "node", "proof", "value", "value_node")

    def __init__(
        self, frame: Frame, node: ast.AST, container: str, value_node: ast.expr, value: Value, loop: Any
    ) -> None:
        self.frame = frame
        self.node = node
        self.container = container
        self.value_node = value_node
        self.value = value
        self.loop = loop
        self.around = [outer.node for outer in frame.loops]
        self.copy = copy_of_device_array(frame, value_node, 2)
        self.proof = frame.proof()

    def fact(self) -> Append | None:
        frame = self.frame
        scope, bindings = scope_of(frame), bindings_of(frame)
        decoded = has_decoder(frame) and is_decoded(self.value_node, bindings, 3)
        output = output_of(frame, self.value_node, self.value)
        if output is not None:
            self.loop = self._loop_of(output.call)
        if output is not None and self._deals_out(output.call):
            output, self.loop = (output, None) if self._grows_by_call() else (None, self.loop)
        dealt = self.copy is not None and self.loop in self.around and not is_generated(frame, self.loop)
        if dealt and not self._is_copied_in_a_loop():
            return None
        handed = self.copy is None and any(copies_in(self.value)) and not self._has_name_of_number()
        if handed and self.loop in self.around:
            self.loop = loop_that_makes(frame, self.value_node, self.loop, self.around)
            if self.loop is None and "." not in self.container:
                return None
            if self.loop is not None and makes_anew(self.loop, self.container):
                return None
        if self.copy is not None or handed or decoded:
            self.loop = self._endless(bindings)
        copy = self.copy is not None or handed
        if self.value.kind in (UNKNOWN, INSTANCE) and not copy and not decoded and output is None:
            return None
        loops = self._growing()
        fact = Append(
            frame.place(self.node),
            frame.symbol,
            self.proof,
            container=self.container,
            value=operand(frame, self.value_node, self.value),
            loop=frame.place(self.loop) if self.loop is not None else None,
            over=kind_of_loops(frame, loops, bindings),
            emptied=is_emptied(frame, self.container, self.loop, scope),
            sampled=is_sampled(self.loop, self.node),
            host_copy=copy,
            decoded=decoded,
            output=output.what if output is not None else "",
            made_by=output.call if output is not None else None,
            rounds=all_rounds(frame, loops),
            collected=isinstance(self.node, (ast.ListComp, ast.DictComp)),
            joined=is_joined(self.container, scope),
        )
        ends = fact.loop is None or (fact.made_by is None and fact.over not in ENDLESS)
        return self._in_callers_loop(fact) if ends else fact

    def _growing(self) -> list[Any]:
        """The loops of this function that the container grows in, the innermost first."""
        if self.loop not in self.around:
            return [self.loop] if self.loop is not None else []
        outer = reversed(self.around[: self.around.index(self.loop)])
        return [self.loop, *takewhile(lambda loop: self._grows_in(loop, self.frame), outer)]

    def _grows_in(self, loop: Any, at: Frame) -> bool:
        """Whether a loop, here or where a call comes from, goes on with what the round before left."""
        if makes_anew(loop, self.container) or is_emptied(at, self.container, loop, loop):
            return False
        return adds_in(self.frame, self.node, self.container, at, loop)

    def _in_callers_loop(self, fact: Append) -> Append:
        """The same fact, with the loop that calls the function: what it keeps has to be made in the rounds of that
        loop, and a container of host copies has to have no end in sight."""
        called = growing_call(self.frame, self.container)
        if called is None:
            return fact
        if fact.made_by is None:
            made = called.over in ENDLESS
        else:
            made = any(place.contains(fact.made_by) for place in called.rounds)
        if not made:
            return fact
        at = called.frame
        loops = [called.loop, *takewhile(lambda loop: self._grows_in(loop, at), called.around[1:])]
        return replace(
            fact,
            loop=at.place(called.loop),
            over=called.over if called.over != "literal" else kind_of_loops(at, loops, bindings_of(at)),
            rounds=all_rounds(at, loops),
            emptied=fact.emptied or called.emptied,
            sampled=fact.sampled or called.sampled or is_sampled(scope_of(self.frame), self.node),
        )

    def _has_name_of_number(self) -> bool:
        """`value` is that of any item, among others."""
        return last_name(self.value_node) != "value" and is_called_a_number(self.value_node)

    def _loop_of(self, call: Place) -> Any:
        """The loop whose rounds make what is kept: a loop over one output's members only deals it out."""
        if self.loop not in self.around:
            return self.loop
        around = self.around[: self.around.index(self.loop) + 1]
        bodies = [
            (loop, self.frame.place(statement))
            for loop in reversed(around)
            for statement in getattr(loop, "body", ())
        ]
        return next((loop for loop, body in bodies if body.contains(call)), self.loop)

    def _is_copied_in_a_loop(self) -> bool:
        """Go out to the loop in which the copy is made: one in it only deals out its members. Whether such a loop,
        or whoever calls this method, puts copies into the same container."""
        around = self.around[: self.around.index(self.loop) + 1]
        made = (
            n for n in reversed(around) if any(part is self.copy for b in repeated(n) for part in walk(b))
        )
        loop = next(made, None)
        if loop is None:
            self.loop = None
            return "." in self.container
        if loop is not self.loop and makes_anew(loop, self.container):
            return False
        self.loop = loop
        return True

    def _endless(self, bindings: Bindings) -> Any:
        """The loop without an end that the container grows in: the loop around it, or one farther out."""
        if self.loop not in self.around:
            return self.loop
        outer = reversed(self.around[: self.around.index(self.loop) + 1])
        growing = takewhile(lambda loop: loop is self.loop or not makes_anew(loop, self.container), outer)
        kinds = ((loop, kind_of_loop(self.frame, loop, bindings)) for loop in growing)
        return next((loop for loop, kind in kinds if kind in ENDLESS), self.loop)

    def _deals_out(self, made_by: Place | None) -> bool:
        """`weights[f"layer_{i}"] = stacked[i]`: the entries of one array, made before the loop, get names. With
        nothing but counted loops around, they are the parts of one thing, as are the members of what a loop goes
        through: `[leaf for leaf in outputs]`."""
        loop = self.loop
        if made_by is None or loop is None or is_generated(self.frame, loop):
            return False
        within = any(self.frame.place(part).contains(made_by) for part in repeated(loop))
        if not within and _first_name(self.value_node) in targets(loop):
            return True
        counted = isinstance(self.value_node, ast.Subscript) and all(is_counted(o) for o in self.around)
        return counted and (not self.frame.place(loop).contains(made_by) or self._converts(made_by))

    def _grows_by_call(self) -> bool:
        """`for name, value in outputs.items(): self.rows[name].append(value)`: what the loop deals out stays in the
        object, and whoever calls the method in a loop adds to it in each round."""
        appends = isinstance(self.node, ast.Call) and last_name(self.node.func) in ADDING
        kept = self.container.startswith("self.") or is_anothers(self.frame, self.container)
        return appends and self.around == [self.loop] and kept

    def _converts(self, made_by: Place) -> bool:
        """The parts of stored arrays get other names: a call that is given entries of what is stored already makes
        the whole, before the innermost loop, which names its parts."""
        place = self.frame.place
        named = isinstance(self.node, ast.Subscript) and isinstance(self.node.slice, ast.JoinedStr)
        if not named or place(self.around[-1]).contains(made_by):
            return False
        calls = (n for n in walk(self.loop) if isinstance(n, ast.Call) and place(n) == made_by)
        bindings = bindings_of(self.frame)
        return any(
            bool(call.args)
            and not call.keywords
            and all(
                isinstance(a, ast.Subscript)
                and bool(bound := bindings.of(_first_name(a)))
                and all(isinstance(b, ast.Subscript) for b in bound)
                for a in call.args
            )
            for call in calls
        )


def _first_name(node: ast.expr) -> str:
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
