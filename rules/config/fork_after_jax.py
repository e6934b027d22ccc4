"""JAX506: a process is forked after jax has started its threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxlint.finding import Confidence, Finding, Fix, Place, Related, Severity
from jaxlint.flow.facts import ProcessStart
from jaxlint.jax_api.processes import FORK_IS_DEFAULT_BEFORE
from jaxlint.rule import Rule

if TYPE_CHECKING:
    import libcst as cst

    from jaxlint.context import Context

# What tells that somebody has thought of the memory, or that no GPU is used.
_SHARED = ("XLA_PYTHON_CLIENT_", "CUDA_VISIBLE_DEVICES", "JAX_PLATFORM", "jax_platform", "jax.distributed")
_SPAWN_ALL = 'Call `multiprocessing.set_start_method("spawn")` first.'
_REMEDIES = {
    "AsyncVectorEnv": 'Pass `context="spawn"`, or make it before jax is used.',
    "make_vec": 'Pass `vector_kwargs={"context": "spawn"}`, or make it before jax is used.',
    "Parallel": "Leave the backend out: joblib's own starts its processes afresh.",
    "process_map": _SPAWN_ALL,
}


class ForkAfterJax(Rule):
    """`os.fork`, or a pool or process that forks, after device work; workers that each use the GPU."""

    def suspect(self, fact: ProcessStart) -> bool:
        return fact.after_device_use is not None or fact.worker is not None

    def check(self, fact: ProcessStart, ctx: Context) -> Iterator[Finding]:
        if fact.method == "default" and ctx.requires_python >= FORK_IS_DEFAULT_BEFORE:
            return
        used = fact.after_device_use if fact.method != "spawn" else None
        if fact.api.endswith("DataLoader"):
            yield self._loader(fact, ctx)
        elif used is not None and _comes_first(fact, ctx):
            yield self._forked(fact, used, ctx)
        elif fact.worker is not None and not _is_told(fact, ctx):
            yield self._each(fact, fact.worker)

    def _forked(self, fact: ProcessStart, used: Place, ctx: Context) -> Finding:
        call = fact.api.rpartition(".")[2]
        if fact.api.endswith("fork"):
            remedy = 'Start the process before jax is used, or with `multiprocessing.get_context("spawn")`.'
        elif fact.api.endswith("ProcessPoolExecutor"):
            remedy = 'Pass `mp_context=multiprocessing.get_context("spawn")`.'
        else:
            remedy = _REMEDIES.get(call, 'Make it from `multiprocessing.get_context("spawn")`.')
        default = "" if fact.method == "fork" else ", the default on Linux before Python 3.14,"
        return self.finding(
            fact,
            f"`{call}` forks{default} after jax was used: a lock that one of jax's threads holds stays locked "
            f"in the child, which then hangs. {remedy}",
            confidence=Confidence.HIGH if fact.proof.eager else Confidence.MEDIUM,
            related=[
                Related(used, "jax is used here, which starts its threads"),
                *([Related(fact.start, "the process is started here")] if fact.start != fact.place else []),
            ],
            fix=_spawned(fact, ctx.node(fact.place), ctx),
        )

    def _loader(self, fact: ProcessStart, ctx: Context) -> Finding:
        related = [Related(fact.worker, "a worker uses jax here")] if fact.worker is not None else []
        return self.finding(
            fact,
            "`DataLoader` forks its workers, and they run jax: a lock that one of jax's threads holds stays "
            'locked in them. Use numpy in the data set, or pass `multiprocessing_context="spawn"`.',
            confidence=Confidence.HIGH if fact.after_device_use is not None else Confidence.MEDIUM,
            related=related,
            fix=_spawned(fact, ctx.node(fact.place), ctx),
        )

    def _each(self, fact: ProcessStart, worker: Place) -> Finding:
        return self.finding(
            fact,
            "Each of these processes runs jax and takes 75 % of the GPU's memory when it starts. Give each a GPU "
            "(`CUDA_VISIBLE_DEVICES`) or a share (`XLA_PYTHON_CLIENT_MEM_FRACTION`), or keep them on the CPU.",
            severity=Severity.INFO,
            confidence=Confidence.MEDIUM,
            related=[Related(worker, "a worker uses jax here")],
        )


def _is_told(fact: ProcessStart, ctx: Context) -> bool:
    """Somebody has thought of the memory, or these processes are reported already."""
    if any(word in ctx.source for word in _SHARED):
        return True
    others = (o for o in ctx.facts(ProcessStart) if o.place == fact.place and o.start != fact.start)
    return any(
        o.start < fact.start
        and (o.worker is not None or (o.method != "spawn" and o.after_device_use is not None))
        for o in others
    )


def _spawned(fact: ProcessStart, call: cst.CSTNode | None, ctx: Context) -> Fix | None:
    """The same with processes that start anew."""
    import libcst as cst

    if not isinstance(call, cst.Call) or fact.method != "default":
        return None
    library = ctx.spell("multiprocessing") or "multiprocessing"
    context = f'{library}.get_context("spawn")'
    text = ctx.focus.code(call)
    if fact.api.endswith("ProcessPoolExecutor"):
        option = f"mp_context={context}"
    elif fact.api.endswith("DataLoader"):
        option = 'multiprocessing_context="spawn"'
    elif isinstance(call.func, cst.Attribute) and ctx.focus.code(call.func.value) == library:
        return ctx.suggest("Spawn the processes", ctx.replace(call.func.value, context))
    else:
        return None
    separator = ", " if call.args else ""
    return ctx.suggest(
        "Spawn the processes", ctx.replace(call, f"{text[:-1].rstrip().rstrip(',')}{separator}{option})")
    )


def _comes_first(fact: ProcessStart, ctx: Context) -> bool:
    """The lines say which runs first, unless they lie on two ways of which a run takes one."""
    import libcst as cst

    before, after = (ctx.node(place) for place in fact.order) if len(fact.order) == 2 else (None, None)
    if before is None or after is None:
        return True
    around = set(ctx.parents(after))
    inner: cst.CSTNode = before
    for outer in ctx.parents(before):
        branch = isinstance(outer, (cst.If, cst.Else)) and isinstance(inner, cst.IndentedBlock)
        if branch and inner not in around and (outer in around or _leaves(inner)):
            return False
        if outer in around and not isinstance(outer, cst.If):
            return True
        inner = outer
    return True


def _leaves(block: cst.CSTNode) -> bool:
    """A block that control leaves the function, or the round of the loop, from."""
    import libcst as cst

    last = block.body[-1] if isinstance(block, cst.IndentedBlock) and block.body else None
    if not isinstance(last, cst.SimpleStatementLine):
        return False
    return any(isinstance(part, (cst.Return, cst.Raise, cst.Continue, cst.Break)) for part in last.body)
