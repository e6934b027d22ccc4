"""Lines that tell by themselves what happened: kills, XLA's rematerialisation, stale caches and libraries, and
warnings of jax that name a hazard. One table: where to look, and what it means."""

from __future__ import annotations

import re
from typing import NamedTuple


class Sign(NamedTuple):
    """A kind of line. `words`: one of them is in it, whatever the case; `pattern` is what decides.

    Where `proof` is false it is worth saying, but names no family. Where `event` is true the words are common, too:
    they must report that something happened, not explain, ask or forbid it.
    """

    symptom: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    text: str
    proof: bool = True
    event: bool = False


def _sign(
    symptom: str, words: str, pattern: str, text: str, *, proof: bool = True, event: bool = False
) -> Sign:
    return Sign(symptom, tuple(words.split("|")), re.compile(pattern), text, proof, event)


# How a command, a job or a child ends by signal 9 in the words of shells, launchers, Python and mpirun.
_ENDED = r"(?i:exited|terminated|died|failed|finished|returned|ended|completed|crashed|stopped|done)"
_NINE = (
    # "exited with exit code 137", "returned non-zero exit status -9"
    rf"\b{_ENDED}\b[^.;]{{0,40}}?\b(?i:code|status|value|with|exit)[ :=]*\(?(?:137|-9)\b"
    # "exit code 137" and no more, with a few words before it
    r"|^(?:[^\s#]+ +){0,4}(?i:exit(?:ed)?(?:[ _-]?(?:code|status|value))?)[ :=]*\(?(?:137|-9)\)?[.!]?\s*$"
    # "exitcode  : -9 (pid: 8113)", "returncode=-9", "Exit Code:    137"
    r"|\b(?i:exit[ _-]?code|exit[ _-]?status|return[ _-]?code)[\"']?\s*[:=]\s*(?:137|-9)\b"
    r"|(?i:\b(?:received|by|with|on|got)) (?i:signal):? ?(?:9\b|SIGKILL\b)|\bSignal 9 \(SIGKILL\) received"
    r"|\bSignals\.SIGKILL: 9|\bSIGKILL\(-9\)|\bexitcode=-SIGKILL\b|\bcode=killed, status=9/KILL"
)


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
        "oom-kill|oom_kill|oom kill|oom-killer",
        r"oom-kill:constraint=|oom_kill_process|Detected [1-9]\d* oom[-_]kill event|OOM Killed\b"
        r"|invoked oom-killer|^oom_kill [1-9]\d*$|Failed with result 'oom-kill'|killed by the OOM killer",
        "the kernel or the job's cgroup killed a process for its memory",
    ),
    _sign(
        "kernel-killed",
        "oomkilled",
        r"OOMKilled\b(?![\"']?\s*[:=]\s*[\"']?(?i:false))",
        "the container was killed for its memory (OOMKilled)",
        event=True,
    ),
    _sign(
        "kernel-killed",
        "memory limit|memlimit|out_of_me|session crashed",
        r"(?i:exceeded (?:job |step )?memory limit|memory limit exceeded)|TERM_MEMLIMIT"
        r"|\bState\W+OUT_OF_MEMORY\b|^\d\S* .*\bOUT_OF_ME(?:MORY\b|\+)"
        r"|session crashed after using all available RAM",
        "the job exceeded its memory limit",
        event=True,
    ),
    _sign(
        "ray-killed",
        "outofmemoryerror|low on memory|memory pressure",
        r"\bray\.exceptions\.OutOfMemoryError"
        r"|(?:Task|Actor|Worker)s? (?:was|were) killed due to the node running low"
        r"|[1-9]\d* Workers \(tasks / actors\) killed due to memory pressure",
        "Ray killed a task for the memory of its node",
    ),
    _sign(
        "worker-killed",
        "dataloader worker",
        r"DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) is killed by signal: Killed",
        "a data loader's worker was killed",
    ),
    _sign(
        "shared-memory",
        "dataloader worker|shared memory|no space left",
        r"DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) is killed by signal: Bus error"
        r"|insufficient shared memory \(shm\)|unable to (?:open|mmap|allocate) shared memory"
        r"|No space left on device: '/dev/shm",
        "a data loader found no shared memory (/dev/shm)",
    ),
    _sign(
        "worker-killed",
        "dataloader worker|process in the process pool",
        r"DataLoader worker \(pid\(?s?\)? ?[\d, ]+\) exited unexpectedly"
        r"|A process in the process pool was terminated abruptly",
        "a worker process ended abruptly",
        proof=False,
    ),
    _sign(
        "killed",
        "killed",
        r"^(?:.*: line \d+: +\d+ |(?:\[\d+\])? *[+-]? *\d+ |zsh: )?[Kk]illed(?:: 9)?(?: {2,}\S.*)?\s*$",
        "the shell says that the process was killed",
    ),
    _sign(
        "killed", "137|sigkill|signal|-9|9/kill", _NINE, "it ended by signal 9 (exit code 137)", event=True
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
