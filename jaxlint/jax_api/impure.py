"""Calls whose answer changes from run to run: what they read besides their arguments."""

from __future__ import annotations

from functools import cache


def _names(what: str, text: str) -> dict[str, str]:
    return dict.fromkeys(text.split(), what)


# What a call reads. Random draws matter below a jit too: a mapped function draws once for all its rows.
RANDOM = "random"

_EXACT: dict[str, str] = {
    **_names(
        "clock",
        "time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic time.monotonic_ns "
        "time.process_time time.process_time_ns time.thread_time time.thread_time_ns time.localtime "
        "time.gmtime time.ctime time.strftime timeit.default_timer datetime.datetime.now "
        "datetime.datetime.utcnow datetime.datetime.today datetime.date.today",
    ),
    **_names("identifier", "uuid.uuid1 uuid.uuid4 os.urandom"),
    **_names("environment", "os.getenv os.environ.get os.environ.copy os.environ.items"),
    **_names("input", "builtins.input"),
    **_names(
        "file",
        "builtins.open io.open gzip.open bz2.open numpy.load numpy.loadtxt numpy.genfromtxt numpy.fromfile "
        "numpy.memmap torch.load h5py.File PIL.Image.open imageio.imread cv2.imread joblib.load glob.glob "
        "os.listdir os.scandir",
    ),
    **_names("network", "requests.get requests.post urllib.request.urlopen"),
    **_names(
        RANDOM,
        "torch.rand torch.randn torch.randint torch.randperm torch.normal torch.bernoulli torch.multinomial",
    ),
}

# Functions of `random` and `numpy.random` that draw nothing. A generator is judged by its seed, see
# `flow.impure`.
_DRAWS_NOTHING = frozenset(
    {"seed", "getstate", "setstate", "get_state", "set_state", "get_bit_generator", "set_bit_generator"}
)
GENERATORS = frozenset(
    {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
)
# Methods that tell a file apart by their name alone.
FILE_METHODS = frozenset({"read_text", "read_bytes"})


@cache
def impurity(dotted: str) -> str:
    """What a library call reads ("clock", "random", "file"...), or "" when its arguments decide."""
    known = _EXACT.get(dotted)
    if known is not None:
        return known
    head, _, last = dotted.rpartition(".")
    if head in ("random", "numpy.random", "numpy.random.Generator()", "random.Random()"):
        draws = last[:1].islower() and last not in _DRAWS_NOTHING and dotted not in GENERATORS
        return RANDOM if draws else ""
    if head == "secrets":
        return "identifier"
    if head == "pandas" and last.startswith("read_"):
        return "file"
    if dotted.startswith("scipy.stats.") and last == "rvs":
        return RANDOM
    return ""
