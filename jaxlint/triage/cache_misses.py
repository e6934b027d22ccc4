"""What `JAX_EXPLAIN_CACHE_MISSES=1` writes: the line that called, the function, and what was new this time.

A record is several lines long, and worded differently by jax 0.4.35 to 0.5, 0.6 and 0.7, and 0.8 to 0.10:

    TRACING CACHE MISS at train.py:24:12 (main) costing 68.631 ms because:
      for step defined at train.py:7
      all previously seen cache keys are different. Closest previous key:
      * key with different value of static args:
          now 4 and before 3

Up to 0.5, and in 0.12, static arguments are not explained ("explanation unavailable"). Functions of jax itself are
no news.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from jaxlint.triage.compile_log import plain_name
from jaxlint.triage.evidence import Place
from jaxlint.triage.progress import START, Moment
from jaxlint.triage.reading import Line

_BEGIN = re.compile(
    r"TRACING CACHE MISS at (?P<file>.+?):(?P<line>\d+)(?::\d+)? \((?P<caller>.*?)\)(?: costing [\d.]+ ms)?"
    r"(?: because)?:"
)
_UNSEEN = re.compile(r"^ +(?P<name>.+?) id=\d+(?: defined at (?P<place>.+?))?\s*$")
_KNOWN = re.compile(r"^ +for (?P<name>.+?)(?: defined at (?P<place>.+?))?\s*$")
_CHANGE = re.compile(
    r"^ *(?:\* )?(?:at (?P<where>(?:input path )?.+?), )?now (?P<now>.+?) and before (?P<before>.+?)"
    r"(?:, *so (?:the |they ).*)?$"
)
_SEEN = re.compile(
    r"^ *\* at (?P<where>.+?), seen (?P<before>.+?),? but now given (?P<now>.+?)(?:, +so (?:the |they ).*)?$"
)
_CONTEXT = re.compile(r"^ *\* (?P<where>[\w ]+?) differs: now (?P<now>.+?) and before (?P<before>.+)$")
_CONTINUES = (
    " ",
    "\t",
    "where weak_type",
    "weak_type=",
    "See https:",
    "explanation unavailable",
    "compare to",
)

# jax 0.9 and 0.10 put the address of their documentation right behind the last type, without a space.
_DOCUMENTATION = re.compile(r"(?:\.? ?See )?https://(?:docs\.jax\.dev|jax\.readthedocs\.io)/\S*")

# A structure whose description is several lines long goes on from column 0 to where it is said what differs.
_LONG = re.compile(r"^ *\* at .+?, (?:now|seen) ")
_LONG_ENDS = re.compile(r", +so (?:the|they) ")
_NOT_OF_IT = re.compile(
    r"^(?:Finished |Compiling |Traceback |[A-Z]+:\d{4}-)|TRACING CACHE MISS|RESOURCE_EXHAUSTED"
)
_LONG_LINES = 2000

_KEPT = 8  # changes of one miss
_LONGEST = 4000  # characters of a line that are searched


class Reason(str, Enum):
    """Why a trace that was there did not do."""

    NEW = "a function that was not seen before"
    REMADE = "a new function object each time"
    TYPES = "argument shapes or dtypes"
    WEAK = "a Python number here, an array there"
    STATIC = "the value of a static argument"
    STRUCTURE = "the structure of an argument"
    CALL_FORM = "arguments by position here, by keyword there"
    CONTEXT = "the configuration or a context manager"
    UNEXPLAINED = "jax does not say what"


# What a line of the record gives away, the decisive ones first.
_SIGNS = (
    ("but seen another function defined on the same line", Reason.REMADE),
    ("never seen function", Reason.NEW),
    ("value of static", Reason.STATIC),
    ("different static_argnums", Reason.STATIC),
    ("never seen passing", Reason.CALL_FORM),
    ("different number of args and kwargs", Reason.CALL_FORM),
    ("never seen input pytree", Reason.STRUCTURE),
    ("different input pytree", Reason.STRUCTURE),
    ("never seen input type", Reason.TYPES),
    ("different input types", Reason.TYPES),
    ("racing context", Reason.CONTEXT),
    ("explanation unavailable", Reason.UNEXPLAINED),
)


class Change(NamedTuple):
    """One thing that differs from the closest trace: where in the arguments, what it was, what it is."""

    where: str
    before: str
    now: str


@dataclass(slots=True)
class Miss:
    """One explained cache miss. `caller` is `file:line (function)`, `defined` is `file:line` or ""."""

    place: Place
    rank: str
    caller: str
    name: str = ""
    defined: str = ""
    reason: Reason = Reason.UNEXPLAINED
    changes: list[Change] = field(default_factory=list)
    moment: Moment = START
    known: bool = False  # the function had been traced before

    @property
    def is_of_jax(self) -> bool:
        """A function of jax itself, which older versions report too."""
        return "/jax/_src/" in self.defined or "\\jax\\_src\\" in self.defined


class CacheMisses:
    """Reads the records, of several ranks at once."""

    def __init__(self) -> None:
        self.misses: list[Miss] = []
        self.count = 0
        self._open: dict[tuple[str, str], Miss] = {}
        self._long: dict[tuple[str, str], list[str]] = {}

    def feed(self, line: Line, moment: Moment = START) -> bool:
        """Whether the line belongs to a record."""
        text = line.text
        writer = line.file, line.rank
        if "TRACING CACHE MISS" in text:
            found = _BEGIN.search(text, 0, _LONGEST)
            if found:
                self._long.pop(writer, None)
                self._begin(line, found, moment)
                return True
        miss = self._open.get(writer)
        if miss is None:
            return False
        if writer in self._long:
            return self._go_on(writer, miss, text)
        if _LONG.match(text) and not _is_change(_DOCUMENTATION.sub("", text)):
            self._long[writer] = [text]
            return True
        if text.startswith(_CONTINUES) and not text.lstrip().startswith("File "):
            self._continue(miss, text[:_LONGEST])
            return True
        del self._open[writer]
        return False

    def _begin(self, line: Line, found: re.Match[str], moment: Moment) -> None:
        caller = f"{found['file']}:{found['line']} ({found['caller']})"
        miss = Miss(Place(line.file, line.number), line.rank, caller, moment=moment)
        self._open[line.file, line.rank] = miss
        self.count += 1
        if len(self.misses) < 20_000:
            self.misses.append(miss)

    def _go_on(self, writer: tuple[str, str], miss: Miss, text: str) -> bool:
        """One more line of a description that is several lines long."""
        parts = self._long[writer]
        if len(parts) >= _LONG_LINES or _NOT_OF_IT.search(text):
            del self._long[writer], self._open[writer]
            return False
        parts.append(text.strip())
        if _LONG_ENDS.search(text):
            del self._long[writer]
            self._change(miss, " ".join(parts))
        return True

    def _continue(self, miss: Miss, text: str) -> None:
        for sign, reason in _SIGNS:
            if sign in text:
                # A function that was not seen may turn out to be one that is made over and over; else the
                # first reason that is given is the one that jax thinks closest.
                if miss.reason is Reason.UNEXPLAINED or reason is Reason.REMADE:
                    miss.reason = reason
                break
        if not miss.name:
            self._name(miss, text)
        elif len(miss.changes) < _KEPT:
            self._change(miss, text)

    @staticmethod
    def _name(miss: Miss, text: str) -> None:
        found = _KNOWN.match(text) or _UNSEEN.match(text)
        if found:
            miss.known = found.re is _KNOWN
            miss.name = plain_name(found["name"])
            miss.defined = found["place"] or ""

    @staticmethod
    def _change(miss: Miss, text: str) -> None:
        text = _DOCUMENTATION.sub("", text)
        found = _CONTEXT.match(text) or _CHANGE.match(text) or _SEEN.match(text)
        if not found:
            return
        where = (found["where"] or "").removeprefix("input path ")
        change = Change(where, *difference(found["before"], found["now"]))
        if change not in miss.changes:
            miss.changes.append(change)
        if "weak_type=" in change.now and miss.reason is Reason.TYPES:
            miss.reason = Reason.WEAK
        if "pytree metadata" in text and miss.reason is Reason.STRUCTURE:
            miss.reason = Reason.STATIC


def _is_change(text: str) -> bool:
    return bool(_CONTEXT.match(text) or _CHANGE.match(text) or _SEEN.match(text))


_TOKEN = re.compile(r"<(?:[^<>]|<\w+>)* at 0x[0-9a-f]+>|[\w.+-]+|\S")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def difference(before: str, now: str) -> tuple[str, str]:
    """Of two long descriptions, the parts that differ; all of both where nothing shorter makes sense."""
    if len(before) < 40 and len(now) < 40:
        return before, now
    old, new = _TOKEN.findall(before), _TOKEN.findall(now)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    shorter = " ".join(old[start : len(old) - end]), " ".join(new[start : len(new) - end])
    return shorter if all(shorter) else (before[:200], now[:200])


def by_identity(change: Change) -> bool:
    """Whether the two differ in nothing but where they lie in memory."""
    before, now = _ADDRESS.sub("", change.before), _ADDRESS.sub("", change.now)
    return before == now and change.before != change.now
