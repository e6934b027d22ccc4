"""How much of a tree the analysis understands: the ceiling of what any rule can find there.

    python benchmarks/coverage.py PATH...

Two shares, each with what stands below it. Of the jit calls that the analysis met: those whose wrapped function
it resolved, so that its body is read, or that it knows for a library's, which has no body here. Of the functions
that use `jax.numpy` or `jax.lax`: those it proved traced (a boundary, transform or control flow in view leads
there) and, of the rest, those it proved eager (a chain of calls from module level, main or a test leads there).
What is neither is judged with unknown arguments, and most rules are silent about it.

Each path is a project of its own, as it is for the command. A jit call that no evaluation reaches is not met, and
is in neither number.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator, Sequence
from functools import partial

from jaxlint.finding import Place
from jaxlint.flow.callers import reached_eagerly
from jaxlint.flow.collect import in_traced
from jaxlint.flow.domain.operand import dotted_name
from jaxlint.flow.facts import Boundary, Fact, JitCall
from jaxlint.flow.program import LoadedModule
from jaxlint.flow.run import Run
from jaxlint.jax_api.categories import canonical
from jaxlint.project.deep import with_deep_stack
from jaxlint.project.workspace import survey
from jaxlint.session import Session

AIM = 0.85  # of the jit calls
_ARRAY_LIBRARIES = ("jax.numpy.", "jax.lax.")


class Coverage:
    """What the runs of some projects proved, by place: several roots reach the same function."""

    def __init__(self) -> None:
        self.boundaries: dict[Place, Boundary] = {}
        self.uses_arrays: set[Place] = set()
        self.traced: set[Place] = set()
        self.eager: set[Place] = set()

    def measure(self, session: Session) -> None:
        """Analyse every root of a session. Raises what the analysis raises: here nothing may be hidden."""
        for root in session.roots:
            analysis = session.analysis()
            module = analysis.program.load(root)
            if module is None:
                continue
            facts = analysis.facts(module, session.module_role(root))
            self._note_boundaries(facts)
            self._note_functions(module, analysis.run(module), session)

    def add(self, other: Coverage) -> None:
        """Take in what was measured elsewhere."""
        self.boundaries |= other.boundaries
        self.uses_arrays |= other.uses_arrays
        self.traced |= other.traced
        self.eager |= other.eager

    def _note_boundaries(self, facts: Sequence[Fact]) -> None:
        for fact in facts:
            if isinstance(fact, JitCall):
                known = self.boundaries.get(fact.boundary.place)
                if known is None or not _is_resolved(known):
                    self.boundaries[fact.boundary.place] = fact.boundary

    def _note_functions(self, module: LoadedModule, run: Run, session: Session) -> None:
        self.traced.update(function.module.place(function.node) for function in run.traced)
        for node in ast.walk(module.tree):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not _uses_arrays(
                node, module
            ):
                continue
            place = module.place(node)
            self.uses_arrays.add(place)
            function = module.functions.get(node)
            if function is None:
                continue
            if in_traced(function, run.traced):
                self.traced.add(place)
            elif reached_eagerly(session.survey.table, module.entry, function, run.traced):
                self.eager.add(place)


def _is_resolved(boundary: Boundary) -> bool:
    return boundary.definition is not None or bool(boundary.library)


def _uses_arrays(node: ast.FunctionDef | ast.AsyncFunctionDef, module: LoadedModule) -> bool:
    """Whether the function itself, those inside it aside, names something of jax.numpy or jax.lax."""
    imports = module.entry.record.imports
    for inner in _own_nodes(node):
        dotted = dotted_name(inner)
        if dotted is not None:
            head, dot, rest = dotted.partition(".")
            if canonical(imports.get(head, "") + dot + rest).startswith(_ARRAY_LIBRARIES):
                return True
    return False


def _own_nodes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    stack: list[ast.AST] = list(node.body)
    while stack:
        inner = stack.pop()
        if isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        yield inner
        stack.extend(ast.iter_child_nodes(inner))


# ---------------------------------------------------------------- what is shown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and directories")
    parser.add_argument("--unresolved", action="store_true", help="list the jit calls that are not resolved")
    args = parser.parse_args()
    total = Coverage()
    print(_row("", "jit calls", "resolved", "use arrays", "traced", "eager", "neither"))
    for path in args.paths:
        coverage = Coverage()
        with_deep_stack(partial(_measure, coverage, path))
        print(_figures(path, coverage))
        total.add(coverage)
    if len(args.paths) > 1:
        print(_figures("all", total))
    print(f"aim: {AIM:.2f} of the jit calls resolved")
    if args.unresolved:
        for place, boundary in sorted(total.boundaries.items()):
            if not _is_resolved(boundary):
                print(f"{place.path}:{place.span.line}:{place.span.column}: {boundary.api} ({boundary.form})")
    return 0


def _measure(coverage: Coverage, path: str) -> None:
    for part in survey([path], isolated=True).parts:
        coverage.measure(Session(part.files, part.project, rules=()))


def _figures(name: str, coverage: Coverage) -> str:
    made, functions = coverage.boundaries.values(), coverage.uses_arrays
    resolved = sum(map(_is_resolved, made))
    traced = functions & coverage.traced
    eager = (functions & coverage.eager) - traced
    neither = len(functions) - len(traced) - len(eager)
    shares = (_share(number, len(functions)) for number in (len(traced), len(eager), neither))
    return _row(name, str(len(made)), _share(resolved, len(made)), str(len(functions)), *shares)


def _share(number: int, of: int) -> str:
    return f"{number / of:.2f}" if of else "-"


def _row(name: str, *cells: str) -> str:
    return name[-40:].ljust(40) + "".join(cell.rjust(12) for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
