"""The analysis of one module: everything it defines is run, and the facts are collected."""

from __future__ import annotations

import ast

import jaxlint.flow.transfer_functions  # noqa: F401 - importing it registers what syntax and libraries mean
from jaxlint.finding import Place
from jaxlint.flow.boundaries.entering import trace_declared
from jaxlint.flow.boundaries.single import settle_single
from jaxlint.flow.callers import reached_eagerly, repeating_call
from jaxlint.flow.calls.instances import generic_instance
from jaxlint.flow.collect import Collector, Root, in_traced, unique
from jaxlint.flow.config.configuration import JaxImport, import_order, import_time_work
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import BOUNDARY, FUNCTION
from jaxlint.flow.evaluations import Evaluation
from jaxlint.flow.facts import ConfigChange, Fact, Instantiation, ModuleRole, Proof
from jaxlint.flow.frame import Frame, execute
from jaxlint.flow.host_memory.cached_functions import PendingCache
from jaxlint.flow.program import LoadedModule, Program
from jaxlint.flow.retrace.absorbed import absorbed_mutations
from jaxlint.flow.retrace.equal_statics import equal_statics
from jaxlint.flow.retrace.staleness import stale_reads
from jaxlint.flow.run import Run
from jaxlint.flow.syntax.stored_fields import CONSTRUCTORS
from jaxlint.flow.trace.cached_tracers import cached_tracers
from jaxlint.jax_api.transforms import EAGER
from jaxlint.project.role import is_main_guard
from jaxlint.record import replace


class Analysis:
    """Runs the root module of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._top: dict[LoadedModule, tuple[Run, Evaluation]] = {}
        program.evaluate_module = self._top_level

    def _top_level(self, module: LoadedModule) -> None:
        """Run a module's top level, in the run that will be its own if it becomes a root."""
        run = Run(self.program)
        evaluation = Evaluation(module, None, EAGER)
        frame = Frame(run, module, evaluation, None, EAGER, 0, None)
        frame.names = module.names if module.names is not None else {}
        self._top[module] = run, evaluation
        run.top = frame
        run.stack.append(evaluation)
        evaluation.active = True
        try:
            execute(frame, module.tree.body)
            for state in list(run.declared or ()):
                trace_declared(run, state)
            run.declared = None
        finally:
            run.stack.pop()
            evaluation.active = False
        module.names = frame.names

    def run(self, module: LoadedModule) -> Run:
        """The run rooted at a module. Raises KeyError before the module has been evaluated."""
        return self._top[module][0]

    def facts(self, module: LoadedModule, role: ModuleRole) -> list[Fact]:
        """All facts of a run rooted at a module, wherever they lie, in source order."""
        self.program.environment(module)
        run, top = self._top[module]
        roots = [Root(top, True, None, True, False)]
        evaluations = [top]
        for closure in self._closures(module):
            function = closure.function
            evaluation = self._generic(run, module, closure)
            if evaluation is None:
                continue
            evaluations.append(evaluation)
            traced = in_traced(function, run.traced)
            callers = self.program.table
            repeated = repeating_call(callers, module.entry, function, run.traced)
            eager = reached_eagerly(callers, module.entry, function, run.traced)
            root = Root(evaluation, eager, repeated, False, traced and not eager)
            if eager and not module.entry.record.is_test:
                root.by_test = not reached_eagerly(callers, module.entry, function, run.traced, tests=False)
            roots.append(root)
        settle_single(run for run, _ in self._top.values())
        collector = Collector(run)
        collector.collect(roots)
        found = list(collector.facts)
        for evaluation in evaluations:
            found += stale_reads(evaluation)
        found += self._caches_elsewhere(run, module)
        found += absorbed_mutations(run, module, evaluations, self.program.table)
        found += cached_tracers(run, evaluations)
        found += equal_statics(collector.facts, run)
        found += self._instantiations(module)
        found = self._with_role(module, role, found, collector)
        return sorted(unique(found), key=lambda fact: (fact.place, type(fact).__name__))

    def _caches_elsewhere(self, run: Run, module: LoadedModule) -> list[Fact]:
        """The caches of other modules that this run fills: how they are called shows only here."""
        owners = {function.module for function in run.cached_calls if function.module is not module}
        return [
            item.fact(run)
            for owner in owners
            for item in self._top[owner][1].log
            if isinstance(item, PendingCache) and item.function in run.cached_calls
        ]

    def _instantiations(self, module: LoadedModule) -> list[Fact]:
        """Where other modules make instances of this one's classes that jit their methods."""
        table, found = self.program.table, []
        for cls in module.classes.values():
            if not any(value.kind == BOUNDARY for value in cls.attributes.values()):
                continue
            for owner, site in table.instantiations(module.entry, cls.name):
                if owner is not module.entry:
                    caller = owner.record.functions.get(site.caller)
                    found.append(
                        Instantiation(
                            site.place(owner.path),
                            site.caller,
                            Proof("jit" if caller is not None and caller.jitted else "eager"),
                            class_place=module.header(cls.node),
                            class_name=cls.qualname,
                            in_loop=site.loop > 0,
                            holds_arrays=False,
                        )
                    )
        return list(found)

    def _closures(self, module: LoadedModule) -> list[Closure]:
        """Functions and methods of the module, constructors first: they tell what instances hold. What a function
        makes and the module keeps under a name (`train = make_train()`) is one of them."""
        functions = [f for f in module.functions.values() if not f.is_lambda and f.parent is None]
        found = [Closure(f, f.cls.scope if f.cls is not None else None, None, 0, f.node) for f in functions]
        kept = [value.data for value in (module.names or {}).values() if value.kind == FUNCTION]
        found += [made.copy(None, 0, made.node) for made in kept if _is_made_by(made, module)]
        return sorted(found, key=lambda c: (c.function.name not in CONSTRUCTORS, c.function.node.lineno))

    def _generic(self, run: Run, module: LoadedModule, closure: Closure) -> Evaluation | None:
        """The function as nobody in view calls it; nothing when it is only traced."""
        function = closure.function
        if function in run.traced:
            return None
        if function.is_method and function.cls is not None and function.params[:1] == ["self"]:
            closure.receiver = generic_instance(function.cls)
        frame = Frame(run, module, Evaluation(module, None, EAGER), None, EAGER, 0, None)
        return run.generic(frame, closure)

    def _with_role(
        self, module: LoadedModule, role: ModuleRole, found: list[Fact], collector: Collector
    ) -> list[Fact]:
        """Configuration and import-time facts know their module's role and what came before them."""
        changes = [
            f for f in found if isinstance(f, ConfigChange) and (f.place.path == module.path or f.at_import)
        ]
        others = [f for f in found if not isinstance(f, ConfigChange)]
        uses = [u for u in collector.device_uses if u.place.path == module.path]
        guard = _main_guard(module.tree)
        told = [
            replace(
                change,
                role=role,
                in_main_guard=_guarded(_at_top(change), guard),
                called_from=self._callers(module, change) if change.symbol else (),
            )
            for change in changes
        ]
        ordered = import_order(module.tree, told, uses, _jax_import(self.program, module))
        work = import_time_work([u for u in uses if not _guarded(u.place, guard)], role)
        return [*others, *ordered, *([work] if work is not None else [])]

    def _callers(self, module: LoadedModule, change: ConfigChange) -> tuple[Place, ...]:
        from jaxlint.flow.callers import library_callers

        return library_callers(self.program.table, module.entry, change.symbol)


def _is_made_by(closure: Closure, module: LoadedModule) -> bool:
    """A function of the module stands in one that has run, and is what its source says, no more."""
    function = closure.function
    plain = not (closure.via or closure.transforms or function.is_lambda)
    return plain and function.parent is not None and function.module is module


def _at_top(change: ConfigChange) -> Place:
    """The statement of the root module that leads to a change."""
    return change.proof.chain[0].place if change.symbol and change.proof.chain else change.place


def _guarded(place: Place, guard: tuple[int, int] | None) -> bool:
    return guard is not None and guard[0] <= place.span.line <= guard[1]


def _main_guard(tree: ast.Module) -> tuple[int, int] | None:
    """The lines of `if __name__ == "__main__":`."""
    for node in tree.body:
        if is_main_guard(node):
            return node.lineno, node.end_lineno or node.lineno
    return None


_IMPORT_JAX = frozenset(
    {
        "jax",
        "flax",
        "equinox",
        "optax",
        "haiku",
        "chex",
        "optimistix",
        "diffrax",
        "lineax",
        "orbax",
        "numpyro",
    }
)


def _jax_import(program: Program, module: LoadedModule) -> JaxImport | None:
    """The first import at module level that imports jax, itself or through a module of the project. Of those in a
    `try`, the first thing that it does: what comes later may not be reached."""
    for statement in module.tree.body:
        names: list[str] = []
        node: ast.stmt = statement
        while isinstance(node, (ast.Try, ast.With)):
            node = node.body[0]
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = _imported_from(node, module)
        for name in names:
            if name.partition(".")[0] in _IMPORT_JAX or _imports_jax(program, module, name):
                return JaxImport(module.place(node), module.place(statement))
    return None


def _imported_from(node: ast.ImportFrom, module: LoadedModule) -> list[str]:
    """`pkg.model` of `from .model import Model` in `pkg`; also `pkg.model` of `from . import model`."""
    if not node.level:
        return [node.module or ""]
    package = module.entry.name.split(".")[: None if module.entry.is_package else -1]
    above = package[: len(package) - node.level + 1]
    base = ".".join([*above, *([node.module] if node.module else [])])
    return [base, *(f"{base}.{alias.name}" for alias in node.names)] if base else []


def _imports_jax(program: Program, module: LoadedModule, name: str) -> bool:
    entry = program.table.find(name, module.entry)
    if entry is None or entry is module.entry:
        return False
    return program.table.imports_any(entry, _IMPORT_JAX)


__all__ = ["Analysis"]
