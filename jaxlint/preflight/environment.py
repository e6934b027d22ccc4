"""Point 6, and the hygiene of the environment: the variables of the allocator, several processes, cuDNN."""

from __future__ import annotations

from collections.abc import Callable

from jaxlint.flow.facts import ConfigChange, ProcessStart
from jaxlint.preflight.material import Material
from jaxlint.preflight.points import Evidence, Point, Status, failures, place, remarks
from jaxlint.preflight.variables import Assignment

_PREFIX = "XLA_PYTHON_CLIENT_"
_PREALLOCATE = f"{_PREFIX}PREALLOCATE"
_FRACTION = f"{_PREFIX}MEM_FRACTION"
_NEW_FRACTION = "XLA_CLIENT_MEM_FRACTION"  # beside the old name since jaxlib 0.5; both at once raise
_TF = "TF_GPU_ALLOCATOR"  # named in messages of the CUDA plugin, and read by it nowhere (0.6.2)
_OF_TENSORFLOW = f"{_TF}={{}} is TensorFlow's; jax reads {_PREFIX}ALLOCATOR=cuda_async"
_OFF = frozenset({"false", "False", "0"})  # these three and no other spelling, in all versions read
_MOST = 0.9  # a fraction above leaves less than a tenth for transients, other libraries and cohabitants

_CACHE_DIRECTORY = "JAX_COMPILATION_CACHE_DIR"
_CACHE_CALLS = (".set_cache_dir", ".initialize_cache")
_LEAST_TIME = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"

CLIENT_CODES = ("JAX503",)
PROCESS_CODES = ("JAX504", "JAX506")
CUDNN_CODES = ("JAX701", "JAX702", "JAX703", "JAX704")


def headroom(material: Material) -> Point:
    """Point 6."""
    title = f"{_PREALLOCATE}=false, and a fraction that leaves headroom"
    advice = f"{_PREALLOCATE}=false {_FRACTION}=0.65, before the first use of a GPU"
    found = Point("6", title, Status.NOT_SHOWN, advice=advice)
    late = [e for e in failures(material.findings, CLIENT_CODES) if _PREFIX in e.text]
    preallocate = [a for a in material.variables if a.name == _PREALLOCATE]
    fractions = [a for a in material.variables if a.name in (_FRACTION, _NEW_FRACTION)]
    on = [a for a in preallocate if a.value and a.value not in _OFF]
    high = [a for a in fractions if (number := _number(a.value)) is not None and number > _MOST]
    wrong = [Evidence(f"{a.name}={a.value} leaves no headroom", a.place) for a in high]
    wrong += [Evidence(f"{a.name}={a.value} turns it on", a.place) for a in on]
    rest = [a for a in (*preallocate, *fractions) if a not in high and a not in on]
    found.evidence = late + wrong + [_said(a) for a in rest]
    if late or wrong:
        found.status = Status.FAIL
    elif preallocate and fractions:
        found.status = Status.PASS
    else:
        missing = [n for n, there in ((_PREALLOCATE, preallocate), (_FRACTION, fractions)) if not there]
        found.evidence.append(
            Evidence(f"{' and '.join(missing)}: neither the project's files nor this shell set it")
        )
    return found


def client_variables(material: Material) -> Point:
    """Whether the variables of the allocator exist, hold what they may, and come in time."""
    title = f"Variables that are set come in time; those of {_PREFIX}* exist and hold what they may"
    found = Point("A", title, Status.NOT_APPLICABLE, advice="set them before jax is imported")
    variables = [a for a in material.variables if a.name.startswith((_PREFIX, _NEW_FRACTION))]
    wrong = failures(material.findings, CLIENT_CODES)
    for assignment in variables:
        problem = _problem(assignment)
        if problem:
            wrong.append(Evidence(problem, assignment.place))
    wrong += _both_names(variables)
    others = [Evidence(_OF_TENSORFLOW.format(a.value), a.place) for a in material.variables if a.name == _TF]
    if wrong:
        found.status, found.evidence = Status.FAIL, wrong
    elif variables:
        found.status, found.evidence = Status.PASS, [_said(a) for a in variables]
    else:
        found.evidence = [Evidence("none is set, by the project's files or this shell")]
    found.evidence += others
    return found


def _both_names(variables: list[Assignment]) -> list[Evidence]:
    """jaxlib raises where both names of the fraction are set: those that one file sets, or this shell."""
    named: dict[str, dict[str, Assignment]] = {}
    for assignment in variables:
        if assignment.name in (_FRACTION, _NEW_FRACTION):
            named.setdefault(assignment.place.rpartition(":")[0], {})[assignment.name] = assignment
    return [
        Evidence(f"{_NEW_FRACTION} and {_FRACTION} together: jaxlib raises", names[_FRACTION].place)
        for names in named.values()
        if len(names) == 2
    ]


def processes(material: Material) -> Point:
    """Whether several processes get along on one GPU."""
    title = "Processes do not each take the GPU's memory, nor fork after jax was used"
    advice = f"spawn, and {_PREALLOCATE}=false or a {_FRACTION} for each process"
    found = Point("B", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, PROCESS_CODES)
    starts = list(material.of(ProcessStart))
    if found.evidence:
        found.status = Status.FAIL
    elif starts or material.launches:
        found.status = Status.NOT_SHOWN  # whether they share a GPU only the run's own environment can tell
        found.evidence = [Evidence(f"`{start.api}` starts processes", place(start.place)) for start in starts]
        found.evidence += [Evidence(launch.text, launch.place) for launch in material.launches]
        found.evidence += remarks(material.findings, PROCESS_CODES)
    else:
        found.evidence = [Evidence("no process is started in view, and no import uses a device")]
    return found


def cache_directory(material: Material) -> Point:
    """Whether a cache directory that is set is kept from growing without end."""
    title = "A compilation cache directory that is set stores what is worth it, and has a place of its own"
    advice = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS of 1 or so; a directory for each CUDA and jaxlib"
    found = Point("C", title, Status.NOT_APPLICABLE, advice=advice)
    told = [*material.variables, *_configured(material)]
    directories = [a for a in told if a.name == _CACHE_DIRECTORY or a.name.endswith(_CACHE_CALLS)]
    least = [a for a in told if a.name == _LEAST_TIME]
    zero = [a for a in least if (seconds := _number(a.value)) is not None and seconds <= 0]
    if zero:
        found.status = Status.FAIL
        found.evidence = [
            Evidence(f"{a.name}={a.value}: every program is kept, for ever", a.place) for a in zero
        ]
    elif directories:
        found.status = Status.PASS
        found.evidence = [_said(a) for a in (*directories, *least)]
        found.evidence += [] if least else [Evidence("jax's own least compile time, 1 s, holds")]
    else:
        found.evidence = [
            Evidence(f"{_CACHE_DIRECTORY} is not set, by the code, the project's files or this shell")
        ]
    return found


def _configured(material: Material) -> list[Assignment]:
    """What `jax.config.update` and the calls of the cache set, under the names of the variables."""
    return [
        Assignment(
            change.option.upper() if change.how == "config.update" else change.option,
            str(change.value) if change.value_known else "",
            place(change.place),
        )
        for change in material.of(ConfigChange)
        if change.how in ("config.update", "call") and not (change.value_known and change.value in (None, ""))
    ]


def cudnn(material: Material) -> Point:
    """Whether the dependency files resolve to one cuDNN that is new enough."""
    title = "One cuDNN, at or above what this jaxlib needs; jax and jaxlib go together"
    advice = (
        "a floor for nvidia-cudnn by a constraint, torch from the CPU index, and wipe the cache after changes"
    )
    found = Point("D", title, Status.NOT_APPLICABLE, advice=advice)
    found.evidence = failures(material.findings, CUDNN_CODES)
    if found.evidence:
        found.status = Status.FAIL
        return found
    advised = remarks(material.findings, CUDNN_CODES)
    if not material.dependency_files:
        found.evidence = [Evidence("no dependency file was among what was read")]
    elif advised:
        found.status, found.evidence = Status.NOT_SHOWN, advised
    elif _names_gpu_jax(material.dependency_files):
        found.status = Status.PASS
        found.evidence = [
            Evidence("asks for a GPU jax, and what it resolves to goes together", path)
            for path in material.dependency_files
        ]
    else:
        found.evidence = [Evidence("the dependency files ask for no GPU jax")]
    return found


# ---------------------------------------------------------------- values


def _said(assignment: Assignment) -> Evidence:
    return Evidence(f"{assignment.name}={assignment.value or '(not a literal)'}", assignment.place)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _is_number(text: str) -> bool:
    return _number(text) is not None


# What jaxlib reads when it creates the GPU client (jaxlib/xla_client.py of 0.4.35 to 0.10.2), and what it takes.
# Fractions above 1 are for unified memory.
_KNOWN: dict[str, Callable[[str], bool]] = {
    _PREALLOCATE: lambda text: text in _OFF or text.lower() in ("true", "1"),
    _FRACTION: _is_number,
    _NEW_FRACTION: _is_number,
    f"{_PREFIX}ALLOCATOR": lambda text: text.lower() in ("default", "platform", "bfc", "cuda_async", "vmm"),
    f"{_PREFIX}USE_TFRT_GPU_CLIENT": _is_number,
    f"{_PREFIX}COLLECTIVE_MEM_SIZE_MB": _is_number,
    f"{_PREFIX}ABORT_COLLECTIVES_ON_FAILURE": _is_number,
}


def _problem(assignment: Assignment) -> str:
    """What is wrong with a variable, "" where nothing is."""
    takes = _KNOWN.get(assignment.name)
    if takes is None:
        return f"jax reads no variable {assignment.name}"
    value = assignment.value
    if value and "$" not in value and not takes(value):
        return f"{assignment.name} cannot be {value!r}"
    return ""


def _names_gpu_jax(paths: list[str]) -> bool:
    for path in paths:
        try:
            with open(path, "rb") as file:
                text = file.read().lower()
        except OSError:
            continue
        if b"jax[cuda" in text or b"jax-cuda" in text:
            return True
    return False
