"""What a rule may ask while it judges: the focused syntax tree, other facts, the file's own spellings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from jaxlint.finding import Applicability, Edit, Fix, Place, Span
from jaxlint.flow.facts import Fact, ModuleRole
from jaxlint.record import record

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.focus import Focus

F = TypeVar("F", bound=Fact)


@record
class Context:
    """One per judged file.

    `aliases` maps canonical dotted names to the file's own spelling (`jax.numpy` → `jnp`).
    `requires_python` is the lowest minor version the project supports ((3, 10) → 10), `jax_version` e.g.
    (0, 10, 2). `taken` are the names of the file that other modules of the project import: "" for the file itself,
    "*" for all of them. `own_imports` are the names that its module-level imports bind to modules of the project or
    to what those define. `commands` are the functions of the file that the project installs as commands.
    """

    path: str
    source: str
    focus: Focus
    aliases: dict[str, str]
    every_fact: Mapping[type[Fact], Sequence[Fact]] = MappingProxyType({})
    jax_version: tuple[int, ...] = (0, 10, 2)
    requires_python: tuple[int, int] = (3, 10)
    role: ModuleRole = ModuleRole.LIBRARY
    taken: Collection[str] = ()
    own_imports: Collection[str] = ()
    commands: Collection[str] = ()

    def facts(self, kind: type[F]) -> Sequence[F]:
        """All facts of a kind that the analysis of this module left, in source order."""
        return self.every_fact.get(kind, [])  # type: ignore[return-value]  # the dict is keyed by the type

    def is_taken(self, name: str) -> bool:
        """Whether another module of the project may use what the file binds to a name."""
        return any(each in self.taken for each in (name, "", "*"))

    def text(self, place: Place) -> str:
        """The source of a place of this file, on one line, or "" when it lies in another file."""
        if place.path != self.path:
            return ""
        return " ".join(self.focus.text(place.span).split())

    def node(self, place: Place) -> cst.CSTNode | None:
        """The libcst node with exactly that span, if it lies in a focused statement of this file."""
        return self.focus.node(place.span) if place.path == self.path else None

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node of the focused module stands in the source."""
        return self.focus.span(node)

    def parents(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, innermost first."""
        return self.focus.parents(node)

    def replace(self, node: cst.CSTNode, new: cst.CSTNode | str) -> Edit:
        """The edit that puts other code in the place of a node."""
        return Edit(self.focus.span(node), new if isinstance(new, str) else self.focus.code(new))

    def indent(self, node: cst.CSTNode) -> str:
        """The white space, blanks or tabs, before the line on which a node begins."""
        line = self.focus.lines[self.span(node).line - 1]
        return line[: len(line) - len(line.lstrip())]

    def insert_before(self, node: cst.CSTNode, text: str) -> Edit:
        """The edit that puts text right before a node."""
        span = self.focus.span(node)
        return Edit(Span(span.line, span.column, span.line, span.column), text)

    def suggest(self, title: str, *edits: Edit) -> Fix:
        """A worked suggestion: to read, never to apply."""
        return Fix(title, Applicability.DISPLAY, edits)

    def spell(self, dotted: str) -> str | None:
        """The file's own spelling of a library name (`jax.numpy.asarray` → `jnp.asarray`), if it is imported."""
        head, rest = dotted, ""
        while head:
            alias = self.aliases.get(head)
            if alias is not None:
                return alias + rest
            head, _, last = head.rpartition(".")
            rest = f".{last}{rest}"
        return None

    def importing(self, dotted: str) -> tuple[str, tuple[Edit, ...]] | None:
        """The file's own spelling of a library name, with the edit that imports it where none is there yet.

        None where it is not imported and cannot be, since its usual name is taken, or where the name that it has
        means something else in some function of the file.
        """
        from jaxlint.fix import imports

        spelled = self.spell(dotted)
        if spelled is not None:
            module = spelled.partition(".")[0]
            return None if imports.is_bound_otherwise(module, self.focus.tree) else (spelled, ())
        added = imports.add(dotted, self.focus.tree)
        return (added.spelled, (added.edit,)) if added is not None else None
