"""What can be told by a single line: kills, XLA's rematerialisation, stale caches and libraries, and warnings
of jax that name a hazard. One table: where to look, and what it means."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxlint.triage.evidence import Collected
from jaxlint.triage.reading import Line
from jaxlint.triage.sizes import shown


class Sign(NamedTuple):
    """A kind of line. `words`: one of them is in it, whatever the case; `pattern` is what decides.

    Where `proof` is false it is worth saying, but names no family.
    """

    symptom: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    text: str
    proof: bool = True


def _sign(symptom: str, words: str, pattern: str, text: str, *, proof: bool = True) -> Sign:
    return Sign(symptom, tuple(words.split("|")), re.compile(pattern), text, proof)


SIGNS = (
    # ------------------------------------------------------------ killed for its memory
    _sign(
        "kernel-killed",
        "killed process",
        r"(?i)out of memory: Killed process (?P<pid>\d+) \((?P<name>[^)]*)\)(?:.*?anon-rss:(?P<kb>\d+)kB)?",
        "the kernel ran out of memory and killed process {pid} ({name}){rss}",
    ),
    _sign(
        "kernel-killed",
        "oom-kill|oom_kill|oomkilled|oom kill|oom-killer",
        r"oom-kill:constraint=|oom_kill event|oom_kill_process|Detected \d+ oom[-_]kill event|OOM Killed"
        r"|invoked oom-killer|OOMKilled",
        "the kernel or the job's cgroup killed a process for its memory",
    ),
    _sign(
        "kernel-killed",
        "memory limit",
        r"(?i)exceeded (?:job |step )?memory limit|memory limit exceeded",
        "the job exceeded its memory limit",
    ),
    _sign(
        "worker-killed",
        "dataloader worker",
        r"DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) (?:is killed by signal: Killed|exited unexpectedly)",
        "a data loader's worker was killed",
    ),
    _sign(
        "killed",
        "killed",
        r"^(?:.*: line \d+: +\d+ |(?:\[\d+\])? *[+-]? *\d+ )?[Kk]illed(?: {2,}\S.*)?\s*$",
        "the shell says that the process was killed",
    ),
    _sign(
        "killed",
        "137|sigkill|signal 9|-9",
        r"(?i)exit(?:ed)?(?:[ _-]?(?:with|code|status|value))*[ :=]*\(?(?:137|-9)\b"
        r"|\bsignal:? ?9\b|\(SIGKILL\)|signal SIGKILL|returncode[ :=]*(?:137|-9)\b",
        "it ended by signal 9 (exit code 137)",
    ),
    _sign(
        "host-allocation-failed",
        "memoryerror|bad_alloc|cannot allocate memory",
        r"^(?:\w+\.)*(?:_Array)?MemoryError\b(?!.*(?i:cuda|gpu))"
        r"|std::bad_alloc|\[Errno 12\] Cannot allocate memory",
        "the host had no memory for what was asked",
    ),
    # ------------------------------------------------------------ device memory
    _sign(
        "rematerialisation",
        "rematerialization",
        r"Can't reduce memory use below (?P<limit>[\d.]+\w+) .*?only reduced to (?P<needed>[\d.]+\w+)"
        r"(?:.*?down from (?P<original>[\d.]+\w+))?",
        "XLA could rematerialise down to {needed}, and its limit was {limit}",
    ),
    _sign(
        "allocator-retry",
        "allocatorretry",
        r"AllocatorRetry",
        "an allocation waited for memory to come free",
        proof=False,
    ),
    # ------------------------------------------------------------ caches and libraries
    _sign(
        "stale-cache",
        "persistent compilation cache entry|deserializ|deserialis",
        r"Error reading persistent compilation cache entry"
        r"|(?i:fail(?:ed|ure)? (?:to |in )?deserializ\w* .{0,60}executable)"
        r"|(?i:deserializ\w+ .{0,40}executable.{0,80}(?:fail|error|mismatch|incompatib|version))"
        r"|(?i:serialized executable .{0,80}(?:incompatib|version|mismatch))",
        "an entry of the compilation cache cannot be used",
    ),
    _sign(
        "cudnn",
        "cudnn|dnn library",
        r"Loaded runtime CuDNN library: (?P<loaded>[\d.]+) but source was compiled with: (?P<needed>[\d.]+)"
        r"|CUDNN_STATUS_(?!SUCCESS)\w+|DNN library (?:initialization failed|is not found)"
        r"|(?i:could not (?:load|create) (?:library )?(?:lib)?cudnn)",
        "cuDNN does not work, or is older than this jaxlib needs",
    ),
    _sign(
        "ptx",
        "ptx|kernel image|cubin",
        r"CUDA_ERROR_(?:UNSUPPORTED_PTX_VERSION|INVALID_PTX|NO_BINARY_FOR_GPU|INVALID_IMAGE)"
        r"|(?i:unsupported (?:ptx )?toolchain)|(?i:ptxas (?:exited with non-zero|.*?too old|fatal))"
        r"|(?i:no kernel image is available)|(?i:ptx jit compilation failed)",
        "what was compiled for the GPU does not fit its driver",
    ),
    _sign(
        "jaxlib-mismatch",
        "jaxlib",
        r"jaxlib (?:is )?version [\d.]+ is (?:newer|older|incompatible)|jaxlib .*? incompatible with jax"
        r"|requires jaxlib",
        "jax and jaxlib do not go together",
    ),
    # ------------------------------------------------------------ worth saying
    _sign(
        "no-accelerator",
        "falling back to cpu",
        r"(?:GPU may be present|No GPU/TPU found|Unable to initialize backend).*[Ff]alling back to (?:cpu|CPU)",
        "jax found no accelerator that it can use, and runs on the CPU",
        proof=False,
    ),
    _sign(
        "constants",
        "constants were captured|constant folding an instruction",
        r"A large amount of constants were captured during lowering \((?P<amount>[^)]*)\)"
        r"|Constant folding an instruction is taking",
        "large arrays are compiled in as constants",
        proof=False,
    ),
    _sign(
        "not-donated",
        "donated buffers were not usable",
        r"Some donated buffers were not usable",
        "a donation that cannot be used",
        proof=False,
    ),
    _sign(
        "full-at-start",
        "xla backend allocating|xla backend will use",
        r"XLA backend (?:allocating|will use up to) (?P<bytes>\d+)(?: bytes)? (?:of|on) device",
        "the XLA backend takes its pool",
        proof=False,
    ),
)

# A job that was ended for its time, or by hand, was not ended for its memory.
_OTHER_KILLS = re.compile(
    r"(?i)DUE TO (?:TIME LIMIT|PREEMPTION)|CANCELLED (?:BY|AT)|time limit (?:exceeded|reached)"
)


class Told:
    """Collects what single lines tell."""

    def __init__(self, collected: Collected) -> None:
        self._collected = collected
        self.killed_for_another_reason: Line | None = None

    def feed(self, line: Line) -> None:
        low = line.text.casefold()
        for sign in SIGNS:
            for word in sign.words:
                if word in low:
                    found = sign.pattern.search(line.text, 0, 4000)
                    if found:
                        self._collected.note(
                            sign.symptom, _said(sign, found), line, key=sign.text, proof=sign.proof
                        )
                    break
        if ("cancelled" in low or "time limit" in low or "preempt" in low) and _OTHER_KILLS.search(line.text):
            self.killed_for_another_reason = line


def _said(sign: Sign, found: re.Match[str]) -> str:
    groups = {key: value or "" for key, value in found.groupdict().items()}
    kilobytes = groups.get("kb")
    rss = f" at {shown(int(kilobytes) * 1024)} resident" if kilobytes else ""
    return sign.text.format(**groups, rss=rss) if "{" in sign.text else sign.text
