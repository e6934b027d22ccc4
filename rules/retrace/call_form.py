"""JAX114: one jitted function is called in several forms, and each form is a trace of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Applicability, Confidence, Finding, Fix, Place, Related
from jaxlint.flow.facts import BoundaryUse, JitCall, Kind, ModuleRole, Operand
from jaxlint.index.walking import own_nodes
from jaxlint.rule import Rule, Severity

from . import _wording as wording

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# Those whose cache distinguishes how arguments are passed; Equinox binds them to the signature first.
_FORMAL = ("jax", "nnx")


class CallForm(Rule):
    """A parameter is passed by position here and by keyword there, or its default is spelled out once."""

    def suspect(self, fact: BoundaryUse) -> bool:
        # Of two different forms one is not the plain one: the others need no look.
        return _is_special(fact) and self._is_known(fact)

    def _is_known(self, fact: BoundaryUse) -> bool:
        known = bool(fact.boundary.parameters) and all(a.parameter for a in fact.arguments)
        plain = not fact.starred and fact.proof.level == "eager"
        return known and plain and fact.boundary.flavour in (*_FORMAL, "filter")

    def check(self, fact: BoundaryUse, ctx: Context) -> Iterator[Finding]:
        if ctx.role is ModuleRole.TEST:
            return
        earlier = [
            u for u in ctx.facts(BoundaryUse) if u.place < fact.place and self._comparable(u, fact, ctx)
        ]
        if any(_form(use) == _form(fact) for use in earlier):
            return  # that call has been spoken of
        for use in earlier:
            difference = _difference(use, fact)
            if difference is not None:
                yield self._finding(use, fact, difference, ctx.node(fact.place), ctx)
                return
        yield from self._plain_after(fact, ctx)

    def _plain_after(self, fact: BoundaryUse, ctx: Context) -> Iterator[Finding]:
        """The first plain call after a special one: it is the later of the two, so it is the one to name."""
        uses = [u for u in ctx.facts(BoundaryUse) if self._comparable(u, fact, ctx)]
        first = min((u.place for u in uses if _form(u) == _form(fact)), default=fact.place)
        plain = [u for u in uses if not _is_special(u) and u.place > fact.place]
        if first != fact.place or any(not _is_special(u) and u.place < fact.place for u in uses):
            return
        for use in plain[:1]:
            difference = _difference(fact, use)
            if difference is not None:
                yield self._finding(fact, use, difference, ctx.node(use.place), ctx)

    def _comparable(self, one: BoundaryUse, other: BoundaryUse, ctx: Context) -> bool:
        """Whether two calls are of one boundary, and pass its static parameters alike."""
        if one.boundary.place != other.boundary.place or not self._is_known(one):
            return False
        if _is_made_anew(one) and not _is_of_one_making(one, other, ctx):
            return False  # two calls of what makes it make two
        values = [{a.parameter: _text(a, ctx) for a in u.arguments if u.is_static(a)} for u in (one, other)]
        return all(values[1].get(name, text) == text for name, text in values[0].items())

    def _finding(
        self, use: BoundaryUse, fact: BoundaryUse, place: Place, node: cst.CSTNode | None, ctx: Context
    ) -> Finding:
        together = fact.loop is not None and fact.loop == use.loop
        callee = wording.callee(fact.boundary, node, ctx)
        return self.finding(
            fact,
            f"{callee} is compiled once more for this form of the call: {_how(use, fact, ctx)}. "
            "Call it one way everywhere.",
            place=place,
            severity=None if together else Severity.INFO,
            confidence=Confidence.HIGH if together else Confidence.MEDIUM,
            related=[
                Related(use.place, "the other form"),
                Related(fact.boundary.place, "jitted here"),
                *([Related(fact.loop, "both run in this loop")] if together and fact.loop else []),
            ],
            fix=_fix(use, fact, node, ctx) if _is_one_meaning(use, fact, ctx) else None,
        )


def _is_special(use: BoundaryUse) -> bool:
    """Something is passed by keyword, or left to its default."""
    return any(a.keyword for a in use.arguments) or len(use.arguments) < len(use.boundary.parameters)


def _is_made_anew(use: BoundaryUse) -> bool:
    return bool(use.boundary.fresh) and (use.boundary.fresh, use.boundary.form) != ("nnx", "decorator")


def _is_of_one_making(one: BoundaryUse, other: BoundaryUse, ctx: Context) -> bool:
    """Whether two calls are of the same object: in one function, or of an attribute of their own `self`."""
    callee = _callee(one, ctx)
    if callee != _callee(other, ctx):
        return False
    classes = [use.symbol.rpartition(".")[0] for use in (one, other)]
    return one.symbol == other.symbol or (callee.startswith("self.") and classes[0] == classes[1])


def _form(use: BoundaryUse) -> tuple[object, ...]:
    positional = sum(not a.keyword for a in use.arguments)
    by_keyword = frozenset(a.parameter for a in use.arguments if a.keyword)
    if use.boundary.flavour not in _FORMAL:
        return (frozenset(a.parameter for a in use.arguments),)
    return positional, by_keyword


def _callee(use: BoundaryUse, ctx: Context) -> str:
    return ctx.text(use.place).partition("(")[0]


def _text(argument: Operand, ctx: Context) -> str:
    return repr(argument.constant) if argument.kind is Kind.CONSTANT else ctx.text(argument.place)


def _difference(use: BoundaryUse, fact: BoundaryUse) -> Place | None:
    """Where a call spells differently what another one passes too; None where they pass different things."""
    one, other = ({a.parameter: a for a in u.arguments} for u in (use, fact))
    spelled = [*_spelled(use, fact), *_spelled(fact, use)]
    if len(spelled) < len(one.keys() ^ other.keys()):
        return None  # a parameter that only one of them passes, and not its default
    for name, argument in other.items():
        before = one.get(name)
        if before is not None and before.keyword != argument.keyword and fact.boundary.flavour in _FORMAL:
            return argument.place
    return next((a.place if a.parameter in other else fact.place for a in spelled), None)


def _spelled(use: BoundaryUse, other: BoundaryUse) -> list[Operand]:
    """The arguments that spell out a default which the other call leaves to the function."""
    passed = {a.parameter for a in other.arguments}
    defaults = {p.name: p.default for p in use.boundary.parameters if p.default}
    alone = [a for a in use.arguments if a.parameter not in passed and a.kind is Kind.CONSTANT]
    return [a for a in alone if defaults.get(a.parameter or "") == repr(a.constant)]


def _how(use: BoundaryUse, fact: BoundaryUse, ctx: Context) -> str:
    """What differs, in words."""
    other = {a.parameter: a for a in use.arguments}
    line = f"line {use.place.span.line}" if use.place.path == ctx.path else "another module"
    for argument in fact.arguments:
        before = other.get(argument.parameter)
        if before is not None and before.keyword != argument.keyword and fact.boundary.flavour in _FORMAL:
            here, there = ("keyword", "position") if argument.keyword else ("position", "keyword")
            return f"`{argument.parameter}` is passed by {here} here and by {there} in {line}"
    name = next(a.parameter for a in [*_spelled(fact, use), *_spelled(use, fact)])
    here = "spelled out here and left out" if _spelled(fact, use) else "left out here and spelled out"
    return f"the default of `{name}` is {here} in {line}"


def _is_one_meaning(use: BoundaryUse, fact: BoundaryUse, ctx: Context) -> bool:
    """Whether each argument goes to the same parameter in either form, whatever function is meant: none of the
    boundaries at these calls, or made in that place, has another signature."""
    boundary = fact.boundary
    places = {use.place, fact.place}
    called = [u for u in ctx.facts(BoundaryUse) if u.place in places or u.boundary.place == boundary.place]
    made = [j.boundary for j in ctx.facts(JitCall) if j.boundary.place == boundary.place]
    names = [p.name for p in boundary.parameters]
    signatures = [[p.name for p in b.parameters] for b in (*made, *(u.boundary for u in called))]
    return (
        not any(u.several or not u.boundary.forms_alike for u in (*called, use, fact))
        and boundary.static is not None
        and all(other in ([], names) for other in signatures)
        and not any(_is_bound_again(u, ctx) for u in (use, fact))
    )


def _is_bound_again(use: BoundaryUse, ctx: Context) -> bool:
    """Whether a function calls what the module binds to a name more than once: a later call of that function
    may mean the other one, which is not looked for."""
    name = _callee(use, ctx).strip()
    if not use.symbol or not name.isidentifier():
        return False
    tree = ast.parse(ctx.source)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [n.name for n in own_nodes(tree) if isinstance(n, definitions)]
    names += [n.id for n in own_nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    declared = any(name in n.names for n in ast.walk(tree) if isinstance(n, ast.Global))
    return names.count(name) > 1 or declared


def _fix(use: BoundaryUse, fact: BoundaryUse, node: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """Pass each argument the way the other call does, where that makes the two calls alike."""
    import libcst as cst

    keyword = {a.parameter: a.keyword for a in use.arguments}
    names = [p.name for p in fact.boundary.parameters]
    if not isinstance(node, cst.Call) or keyword.keys() != {a.parameter for a in fact.arguments}:
        return None
    if len(node.args) != len(fact.arguments) or fact.boundary.flavour not in _FORMAL:
        return None
    if any(a.star or isinstance(a.value, cst.NamedExpr) for a in node.args) or "#" in ctx.focus.code(node):
        return (
            None  # `**batch` is no one argument, `scale=e := 5.0` is no Python, and a comment would be lost
        )
    wanted = [keyword[a.parameter] for a in fact.arguments]
    order = [names.index(a.parameter or "") for a in fact.arguments]
    leading = wanted.count(False)
    first = 1 if names[:1] == ["self"] and "self" not in keyword else 0
    if any(wanted[:leading]) or order[:leading] != list(range(first, first + leading)):
        return None  # what is passed by position must stand first, in the order of the signature
    edits = tuple(
        ctx.replace(argument, f"{operand.parameter}={value}" if by_keyword else value)
        for argument, operand, by_keyword in zip(node.args, fact.arguments, wanted, strict=True)
        if operand.keyword != by_keyword and (value := ctx.focus.code(argument.value))
    )
    line = use.place.span.line
    return Fix(f"Pass the arguments as in line {line}", Applicability.SAFE, edits) if edits else None
