"""Lines that tell by themselves what happened: kills, XLA's rematerialisation, stale caches and libraries, and
warnings of jax that name a hazard. One table: where to look, and what it means."""

from __future__ import annotations

import re
from typing import NamedTuple


class Sign(NamedTuple):
    """A kind of line. `words`: one of them is in it, whatever the case; `pattern` is what decides.

    Where `proof` is false it is worth saying, but names no family. Where `event` is true the words are common, too:
    they must report that something happened, not explain, ask or forbid it. Where `error` is true they name an
    error: the same, but what an exception or XLA itself says is a report whatever its words are.
    """

    symptom: str
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    text: str
    proof: bool = True
    event: bool = False
    error: bool = False


def _sign(
    symptom: str,
    words: str,
    pattern: str,
    text: str,
    *,
    proof: bool = True,
    event: bool = False,
    error: bool = False,
) -> Sign:
    return Sign(symptom, tuple(words.split("|")), re.compile(pattern), text, proof, event, error)


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
    r"|\bEXIT STRING: Killed \(signal 9\)|\bexit_status +137\b"
)


SIGNS = (
    # ------------------------------------------------------------ killed for its memory
    _sign(
        "kernel-killed",
        "killed process",
        r"(?i)(out of memory: )?Killed process (?P<pid>\d+)(?: \(|, UID \d+, \()(?P<name>[^)]*)\)"
        r"(?(1)|(?=,? *(?:UID \d+,? )?total-vm:))(?:.*?anon-rss:(?P<kb>\d+)kB)?",
        "the kernel ran out of memory and killed process {pid} ({name}){rss}",
    ),
    _sign(
        "kernel-killed",
        "oom-kill|oom_kill|oom kill|oom-killer|kill process|system oom",
        r"oom-kill:constraint=|oom_kill_process|Detected [1-9]\d* oom[-_]kill event|OOM Killed\b"
        r"|invoked oom-killer|^oom_kill [1-9]\d*$|Failed with result 'oom-kill'|killed by the OOM killer"
        r"|(?i:out of memory: Kill process \d+ \()|\bSystem OOM encountered, victim process\b",
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
        "memory pressure|systemd-oomd|low on resource|earlyoom|low memory|badness",
        r"systemd-oomd\S*: Killed \S+ due to (?:memory|swap)|systemd-oomd killed [1-9]\d* process"
        r"|\bThe node was low on resource: memory\b"
        r"|\b[Ss]ending SIG(?:TERM|KILL) to (?:process )?\d+ .*\b(?:badness|oom_score) \d+",
        "a process or pod was ended because its machine ran low on memory",
    ),
    _sign(
        "kernel-killed",
        "exceeded limit|out of memory|enforced memory|gone over|memory usage|memory quota|more memory than",
        r"\bjob killed: p?v?mem \S+ exceeded limit|\btasks? [\d,-]+: Out Of Memory\b"
        r"|\bcgroups enforced memory limit|\bJob has gone over (?:cgroup )?memory limit"
        r"|OutOfMemoryError: Container killed due to memory usage|\bMemory quota vastly exceeded"
        r"|Your notebook tried to allocate more memory than is available",
        "the job went over its memory, and was ended for it",
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
        r"^(?:.*: line \d+: +\d+ |(?:\[\d+\])? *[+-]? *\d+ |zsh: )?[Kk]illed(?:: 9)?(?: {2,}\S.*)?\s*$"
        r"|^srun: error: .*\btasks? [\d,-]+: Killed\s*$",
        "the shell, or the launcher, says that the process was killed",
    ),
    _sign(
        "killed", "137|sigkill|signal|-9|9/kill", _NINE, "it ended by signal 9 (exit code 137)", event=True
    ),
    _sign(
        "host-allocation-failed",
        "memoryerror|bad_alloc|cannot allocate memory",
        r"^(?:\w+\.)*(?:_Array)?MemoryError(?=:|\s*$)(?!.*(?i:cuda|gpu))"
        r"|std::bad_alloc|\[Errno 12\] Cannot allocate memory",
        "the host had no memory for what was asked",
        error=True,
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
        error=True,
    ),
    _sign(
        "no-room-beside-pool",
        "_alloc_failed|memory_error|failure to initialize cublas|cuda failure",
        r"\bCU(?:DNN|BLAS|SOLVER|SPARSE)_STATUS_ALLOC_FAILED|\bCUFFT_ALLOC_FAILED|\bHIP(?:BLAS|FFT|SPARSE)_STATUS_ALLOC_FAILED"
        r"|\bmiopenStatusAllocFailed|\brocblas_status_memory_error"
        r"|Failure to initialize cublas may be due to OOM|Cuda failure (?:2 )?'out of memory'",
        "a library of CUDA or ROCm found no memory beside JAX's pool",
        error=True,
    ),
    _sign(
        "no-room-beside-pool",
        "bytes free,",
        r"cuda_(?:dnn|blas)\.cc:\d+\] Memory usage: (?P<free>\d{1,9}) bytes free, (?P<all>\d+) bytes total",
        "a library of CUDA could not start with {free} free of {all}",
    ),
    _sign(
        "cudnn",
        "loaded runtime cudnn",
        r"Loaded runtime CuDNN library: (?P<loaded>[\d.]+) but source was compiled with: (?P<needed>\d+(?:\.\d+)*)",
        "cuDNN {loaded} was loaded, and this jaxlib was built with {needed}",
    ),
    _sign(
        "cudnn-fails",
        "cudnn|dnn library",
        r"CUDNN_STATUS_(?!SUCCESS|ALLOC_FAILED|INTERNAL_ERROR)\w+|DNN library is not found",
        "cuDNN does not work",
        error=True,
    ),
    _sign(
        "cudnn-fails", "cudnn", r"(?i:could not load (?:library )?(?:lib)?cudnn)", "cuDNN cannot be loaded"
    ),
    _sign(
        "cudnn-fails",
        "cudnn|dnn library",
        r"CUDNN_STATUS_INTERNAL_ERROR|DNN library initialization failed|(?i:could not create cudnn)",
        "cuDNN did not start: it does not fit, or found no memory",
        proof=False,
        error=True,
    ),
    _sign(
        "ptx",
        "ptx|kernel image|cubin",
        r"CUDA_ERROR_(?:UNSUPPORTED_PTX_VERSION|INVALID_PTX|NO_BINARY_FOR_GPU|INVALID_IMAGE)"
        r"|(?i:unsupported (?:ptx )?toolchain)|(?i:ptxas (?:exited with non-zero|.*?too old|fatal))"
        r"|(?i:no kernel image is available)|(?i:ptx jit compilation failed)",
        "what was compiled for the GPU does not fit its driver",
        error=True,
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
