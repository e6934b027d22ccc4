"""Processes that are started: by which method, and whether what they run uses jax."""

from __future__ import annotations

import ast

from jaxlint.finding import Place
from jaxlint.flow.config.configuration import DeviceUse
from jaxlint.flow.domain.closures import Closure
from jaxlint.flow.domain.kinds import CONSTANT, FOREIGN, FUNCTION, INSTANCE, SCALAR, UNKNOWN
from jaxlint.flow.domain.objects import Foreign, Instance
from jaxlint.flow.domain.values import UNKNOWN_VALUE, Value, tree
from jaxlint.flow.evaluations import Called, Evaluation
from jaxlint.flow.expressions.attributes import bound_method
from jaxlint.flow.facts import ProcessStart
from jaxlint.flow.frame import Call, Frame, api_call, evaluate
from jaxlint.jax_api.processes import (
    CONTEXT,
    EXECUTOR,
    METHODS,
    POOL,
    PROCESS_CLASSES,
    PROCESS_FAMILY,
    PROCESSES,
)
from jaxlint.jax_api.transforms import EAGER

_CONTEXT_FIELD = "_mp_context"
_READERS = ("__getitem__", "__iter__", "__getitems__")
_DEPTH = 5  # of the calls that are followed to find device work


@api_call("process")
def process(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`Process(...)`, `Pool(...)`, `ProcessPoolExecutor(...)`, `os.fork()`, `DataLoader(...)` and contexts."""
    return _HANDLERS[PROCESSES[dotted]](frame, dotted, call)


def _context(frame: Frame, dotted: str, call: Call) -> Value:
    method = call.argument(0, "method")
    name = _method_name(method)
    if name is None:
        return UNKNOWN_VALUE
    return Value(FOREIGN, data=Foreign(CONTEXT + name, frame.evaluation, frame.loop, call.node))


def _start_method(frame: Frame, dotted: str, call: Call) -> Value:
    frame.run.start_method = (_method_name(call.argument(0, "method")) or "unknown", frame.place(call.node))
    return UNKNOWN_VALUE


def _method_name(given: Value | None) -> str | None:
    if given is None or (given.kind == CONSTANT and given.data is None):
        return "default"
    known = given.kind == CONSTANT and given.data in METHODS
    return str(given.data) if known else None


def _fork(frame: Frame, dotted: str, call: Call) -> Value:
    _note(frame, call, dotted, "fork", None)
    return UNKNOWN_VALUE


def _process(frame: Frame, dotted: str, call: Call) -> Value:
    maker = CONTEXT + PROCESS_CLASSES[dotted].removeprefix(PROCESS_FAMILY)
    _start(frame, dotted, call, maker, call.argument(1, "target"))
    return UNKNOWN_VALUE


def _pool(frame: Frame, dotted: str, call: Call) -> Value:
    _start(frame, dotted, call, dotted.partition("().")[0], call.argument(1, "initializer"))
    return Value(FOREIGN, data=Foreign(POOL, frame.evaluation, frame.loop, call.node))


def _work(frame: Frame, dotted: str, call: Call) -> Value:
    """`pool.map(f, ...)`: the processes have been started before, by whatever method."""
    pool = _receiver(frame, call)
    if pool is not None and pool.data.api == POOL:
        _note_worker(frame, call, POOL, _made_at(pool), call.argument(0, "func"))
    return UNKNOWN_VALUE


def _mapping(frame: Frame, dotted: str, call: Call) -> Value:
    """tqdm's `process_map(f, ...)`."""
    _start(frame, dotted, call, dotted, call.argument(0, "fn"))
    return UNKNOWN_VALUE


def _joblib(frame: Frame, dotted: str, call: Call) -> Value:
    """`Parallel(n, backend="multiprocessing")` forks; its default, loky, starts processes afresh."""
    backend = call.argument(1, "backend")
    if backend is not None and backend.data == "multiprocessing":
        _start(frame, dotted, call, dotted, None)
    return UNKNOWN_VALUE


def _environments(frame: Frame, dotted: str, call: Call) -> Value:
    """Gymnasium's `AsyncVectorEnv(makers)` and `make_vec(name, vectorization_mode="async")`."""
    mode, context = call.keywords.get("vectorization_mode"), call.keywords.get("context")
    if dotted.endswith("AsyncVectorEnv") or (mode is not None and mode.data == "async"):
        method = _method_name(context)
        if method is not None:
            _start(frame, dotted, call, dotted if method == "default" else CONTEXT + method, None)
    return UNKNOWN_VALUE


def _executor(frame: Frame, dotted: str, call: Call) -> Value:
    """Processes are started when the first work is handed in; the executor remembers how."""
    context = call.argument(1, "mp_context")
    if "max_tasks_per_child" in call.keywords or len(call.positional) > 4:
        return UNKNOWN_VALUE  # then the default is to spawn
    made = Value(FOREIGN, data=Foreign(EXECUTOR, frame.evaluation, frame.loop, call.node))
    if context is not None and not (context.kind == CONSTANT and context.data is None):
        if context.kind != FOREIGN:
            return UNKNOWN_VALUE
        made.element = tree({_CONTEXT_FIELD: context})
    _start(frame, EXECUTOR, call, _maker(made), None, made)
    return made


def _submission(frame: Frame, dotted: str, call: Call) -> Value:
    """`executor.submit(f, ...)` or `.map(f, ...)`."""
    executor = _receiver(frame, call)
    if executor is not None and executor.data.api == EXECUTOR:
        _start(frame, EXECUTOR, call, _maker(executor), call.argument(0, "fn"), executor)
    return UNKNOWN_VALUE


def _receiver(frame: Frame, call: Call) -> Value | None:
    """The library object whose method is called."""
    if not isinstance(call.node, ast.Call) or not isinstance(call.node.func, ast.Attribute):
        return None
    owner = evaluate(frame, call.node.func.value)
    return owner if owner.kind == FOREIGN else None


def _maker(executor: Value) -> str:
    context = executor.element.data.get(_CONTEXT_FIELD) if executor.element is not None else None
    return str(context.data.api) if context is not None else EXECUTOR


def started(frame: Frame, receiver: Value, call: Call) -> Value:
    """`.start()` of an instance of a class that derives from Process."""
    run = receiver.data.cls.lookup("run")
    bound = bound_method(frame, run, receiver, call.node) if run is not None else None
    maker = CONTEXT + receiver.data.cls.family.removeprefix(PROCESS_FAMILY)
    _start(frame, "multiprocessing.Process", call, maker, bound, receiver)
    return UNKNOWN_VALUE


def _start(
    frame: Frame, dotted: str, call: Call, maker: str, target: Value | None, made: Value | None = None
) -> None:
    """Note a start by the method of the context that makes it, or by the one that holds for all. `made`: the
    executor or process that was made before it is started."""
    chosen: Place | None = None
    method = "default"
    if maker.startswith(CONTEXT):
        method = maker.removeprefix(CONTEXT)
        chosen = _context_place(frame, call, made) if method == "fork" else None
    if method == "default" and frame.run.start_method is not None:
        method, chosen = frame.run.start_method
    if method not in ("fork", "default"):
        _note_worker(frame, call, dotted, frame.place(call.node), target)
        return
    if made is not None and chosen is None:
        chosen = _made_at(made)
    _note(frame, call, dotted, method, chosen, target)


def _context_place(frame: Frame, call: Call, executor: Value | None) -> Place | None:
    """Where the fork context was made."""
    if executor is not None:
        return _made_at(executor.element.data[_CONTEXT_FIELD]) if executor.element is not None else None
    context = _receiver(frame, call)
    return _made_at(context) if context is not None else None


def _made_at(made: Value) -> Place | None:
    thing: Foreign | Instance = made.data
    return thing.home.module.place(thing.node) if thing.home is not None else None


def _note(
    frame: Frame, call: Call, dotted: str, method: str, chosen: Place | None, target: Value | None = None
) -> None:
    if frame.quiet or frame.level != EAGER or not hasattr(call.node, "lineno"):
        return
    if method == "default" and frame.run.program.table.sets_start_method:
        _note_worker(frame, call, dotted, frame.place(call.node), target)
        return
    start = frame.place(call.node)
    frame.record(
        ProcessStart(
            chosen or start,
            frame.symbol,
            frame.proof(),
            api=dotted,
            method=method,
            start=start,
            worker=_worker(frame, target, call),
        )
    )


def _note_worker(frame: Frame, call: Call, dotted: str, at: Place | None, target: Value | None) -> None:
    """Processes that are spawned, or were started before, run jax."""
    worker = _worker(frame, target, call) if not frame.quiet and hasattr(call.node, "lineno") else None
    if worker is not None and at is not None:
        start = frame.place(call.node)
        frame.record(
            ProcessStart(
                at, frame.symbol, frame.proof(), api=dotted, method="spawn", start=start, worker=worker
            )
        )


# ---------------------------------------------------------------- what workers run


def _loader(frame: Frame, dotted: str, call: Call) -> Value:
    """torch's loader forks its workers when it is iterated; what they run is the data set and the collator."""
    workers, context = call.argument(5, "num_workers"), call.argument(12, "multiprocessing_context")
    several = workers is not None and (
        workers.kind in (SCALAR, UNKNOWN)  # `args.workers`
        or (workers.kind == CONSTANT and isinstance(workers.data, int) and workers.data > 0)
    )
    if not several or (
        context is not None and not (context.kind == CONSTANT and context.data in (None, "fork"))
    ):
        return UNKNOWN_VALUE
    if frame.run.start_method is not None and frame.run.start_method[0] != "fork":
        return UNKNOWN_VALUE
    given = (call.argument(0, "dataset"), call.argument(6, "collate_fn"))
    target = next((value for value in given if _worker(frame, value, call) is not None), None)
    if target is not None:
        _note(frame, call, dotted, "default" if context is None else "fork", None, target)
    return UNKNOWN_VALUE


def _worker(frame: Frame, given: Value | None, call: Call) -> Place | None:
    """The first device work of what a process is given to run: a function, or a data set's methods."""
    if given is None or frame.level != EAGER:
        return None
    if given.kind == FUNCTION:
        return _device_work(frame, given.data, call)
    if given.kind == INSTANCE:
        for name in (*_READERS, "__call__"):
            method = given.data.cls.lookup(name)
            if method is not None:
                bound = bound_method(frame, method, given, call.node)
                found = _device_work(frame, bound.data, call) if bound.kind == FUNCTION else None
                if found is not None:
                    return found
    return None


def _device_work(frame: Frame, closure: Closure, call: Call) -> Place | None:
    if closure.transforms:
        return None
    arguments: dict[str, Value] = {}
    if closure.receiver is not None and closure.function.is_method and closure.function.params:
        arguments[closure.function.params[0]] = closure.receiver
    evaluation = frame.run.evaluation(frame, closure, arguments, EAGER, None)
    return _first_use(evaluation, 0) if evaluation is not None else None


def _first_use(evaluation: Evaluation, depth: int) -> Place | None:
    for item in evaluation.log:
        if isinstance(item, DeviceUse):
            return item.place
        if isinstance(item, Called) and depth < _DEPTH and item.evaluation.level == EAGER:
            found = _first_use(item.evaluation, depth + 1)
            if found is not None:
                return found
    return None


_HANDLERS = {
    "fork": _fork,
    "process": _process,
    "work": _work,
    "mapping": _mapping,
    "joblib": _joblib,
    "environments": _environments,
    "pool": _pool,
    "executor": _executor,
    "submission": _submission,
    "context": _context,
    "start_method": _start_method,
    "loader": _loader,
}
