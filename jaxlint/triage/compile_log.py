"""What `JAX_LOG_COMPILES=1` writes: which function was compiled, for which arguments, and how long it took.

The wording has changed over the years and is no interface; what is read here was taken from runs of jax 0.4.35
to 0.12.0.1:

    Finished tracing + transforming step for pjit in 0.016 sec          (up to 0.7)
    Finished tracing step for jit in 0.016 sec
    Compiling step with global shapes and types [ShapedArray(float32[3])]. Argument mapping: (...).
    Compiling jit(step) with global shapes and types (ShapedArray(float32[3]),). Argument mapping: (...).
    Compiling step (140...) for 8 devices with args (ShapedArray(float32[8,3]),). (num_replicas=8)   (pmap)
    Finished jaxpr to MLIR module conversion jit(step) in 0.011 sec
    Finished XLA compilation of jit(step) in 0.101 sec
    Persistent compilation cache hit for 'jit_step' with key 'jit_step-4f...'
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from jaxlint.triage.evidence import Place
from jaxlint.triage.progress import START, Moment
from jaxlint.triage.reading import Line

_COMPILING = re.compile(
    r"Compiling (?P<name>.{1,300}?)(?: \(\d+\) for \d+ devices with args | with global shapes and types )"
    r"(?P<types>.*?)(?:\. Argument mapping: |\. \(num_replicas=|$)"
)
_FINISHED = re.compile(
    r"Finished (?P<phase>tracing|jaxpr to MLIR module conversion|XLA compilation of)(?: \+ transforming)? "
    r"(?P<name>.{1,300}?)(?: for \w+)? in (?P<seconds>[\d.]+(?:e[+-]?\d+)?) sec"
)
_LOADED = re.compile(r"Persistent compilation cache hit for '(?:[^\W_]{1,40}_)?(?P<name>[^']{1,300})'")
_WRAPPED = re.compile(r"\w+\((.*)\)")
_SHAPED = re.compile(r"ShapedArray\((?P<type>[\w<>]+\[[^\]]*\])(?P<weak>[^()]*weak_type=True)?")

_FORMS = 256  # argument signatures told apart; what comes on top is counted alone
_CHANGES = 64  # compilations of a function whose arguments are kept
_NAMES = 4096  # functions


class Compiled(NamedTuple):
    """One compilation: where the log says it, for which arguments, and when in the run."""

    place: Place
    types: tuple[str, ...]  # one for each array that is passed: `float32[12,8]`, `float32[]~weak`
    digest: bytes
    moment: Moment


@dataclass(slots=True)
class Compilations:
    """The compilations of one function by one process. Seconds count tracing, lowering and compiling."""

    name: str
    rank: str
    file: str
    count: int = 0
    loaded: int = 0  # of these, so many came out of the persistent cache
    seconds: float = 0.0
    first_seconds: float = 0.0
    forms: Counter[bytes] = field(default_factory=Counter)
    kept: list[Compiled] = field(default_factory=list)
    last: Compiled | None = None
    steps: set[int] = field(default_factory=set)

    @property
    def most_alike(self) -> int:
        """How often it was compiled for the very same argument types."""
        return max(self.forms.values(), default=0)

    @property
    def seconds_after_warm_up(self) -> float:
        """What was spent on all compilations but the first."""
        return max(0.0, self.seconds - self.first_seconds)


class CompileLog:
    """Reads the lines and counts."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, str], Compilations] = {}
        self.lines = 0
        self.beyond = 0  # compilations of functions on top of those that are told apart
        self._tracing: dict[tuple[str, str], tuple[str, float]] = {}

    def feed(self, line: Line, moment: Moment = START) -> bool:
        """Whether the line is one of a compile log."""
        text = line.text
        if "Compiling " in text:
            found = _COMPILING.search(text)
            if found:
                self._compiled(line, found, moment)
                return True
        elif "Finished " in text:
            found = _FINISHED.search(text)
            if found:
                self._finished(line, found)
                return True
        elif "compilation cache hit" in text:
            found = _LOADED.search(text)
            if found:
                of = self._of(line, found["name"])
                if of is not None:
                    of.loaded += 1
                return True
        return False

    def _compiled(self, line: Line, found: re.Match[str], moment: Moment) -> None:
        self.lines += 1
        of = self._of(line, found["name"])
        if of is None:
            self.beyond += 1
            return
        types = found["types"]
        digest = blake2b(types.encode(errors="replace"), digest_size=8).digest()
        of.count += 1
        if digest in of.forms or len(of.forms) < _FORMS:
            of.forms[digest] += 1
        compiled = Compiled(Place(line.file, line.number), _types(types), digest, moment)
        if len(of.kept) < _CHANGES:
            of.kept.append(compiled)
        of.last = compiled
        if moment.step is not None and len(of.steps) < _FORMS:
            of.steps.add(moment.step)
        name, seconds = self._tracing.pop((line.file, line.rank), ("", 0.0))
        of.seconds += seconds if name == of.name else 0.0
        if of.count == 1:
            of.first_seconds = of.seconds

    def _finished(self, line: Line, found: re.Match[str]) -> None:
        self.lines += 1
        seconds = float(found["seconds"])
        if found["phase"] == "tracing":  # the line before the one that says it is compiled
            self._tracing[line.file, line.rank] = plain_name(found["name"]), seconds
            return
        of = self._of(line, found["name"])
        if of is None:
            return
        of.seconds += seconds
        if of.count <= 1:
            of.first_seconds = of.seconds

    def _of(self, line: Line, name: str) -> Compilations | None:
        """The record of a function, None where there are too many of them."""
        key = _key(line, name)
        known = self.functions.get(key)
        if known is None and len(self.functions) < _NAMES:
            known = self.functions[key] = Compilations(key[2], line.rank, line.file)
        return known


@lru_cache(maxsize=4096)
def plain_name(name: str) -> str:
    """A function's own name: `step` of `jit(step)` and of `Trainer.<locals>.step`."""
    while wrapped := _WRAPPED.fullmatch(name):
        name = wrapped[1]
    return name if name.startswith("<") else name.rsplit(".", 1)[-1]


def _key(line: Line, name: str) -> tuple[str, str, str]:
    return line.file, line.rank, plain_name(name)


def _types(text: str) -> tuple[str, ...]:
    """The array types of a compile line, in the order of the flattened arguments."""
    return tuple(
        found["type"] + ("~weak" if found["weak"] else "") for found in _SHAPED.finditer(text, 0, 1 << 15)
    )
