"""Calls that start processes, and by which method: fork copies a process with its threads' locks held.

On Linux the standard library forks unless told otherwise, up to Python 3.13; from 3.14 on its default is a
fork server. `subprocess` replaces the copy at once and is harmless.
"""

from __future__ import annotations

METHODS = ("fork", "spawn", "forkserver", "default")
FORK_IS_DEFAULT_BEFORE = (3, 14)

_MODULES = ("multiprocessing", "multiprocess", "torch.multiprocessing")
# What a call does: "process" starts one, "pool" several at once, "executor" several when work comes,
# "environments" one for each of Gymnasium's.
PROCESSES: dict[str, str] = {
    "os.fork": "fork",
    "os.forkpty": "fork",
    "pty.fork": "fork",
    "concurrent.futures.ProcessPoolExecutor": "executor",
    "concurrent.futures.process.ProcessPoolExecutor": "executor",
    "multiprocessing.pool.Pool": "pool",
    "pathos.multiprocessing.ProcessingPool": "pool",
    "pathos.multiprocessing.ProcessPool": "pool",
    "pathos.pools.ProcessPool": "pool",
    "tqdm.contrib.concurrent.process_map": "mapping",
    "joblib.Parallel": "joblib",
    "gymnasium.make_vec": "environments",
    "gymnasium.vector.AsyncVectorEnv": "environments",
    "gym.vector.AsyncVectorEnv": "environments",
    "torch.utils.data.DataLoader": "loader",
    "torch.utils.data.dataloader.DataLoader": "loader",
    **{f"{module}.Pool": "pool" for module in _MODULES},
    **{f"{module}.get_context": "context" for module in _MODULES},
    **{f"{module}.set_start_method": "start_method" for module in _MODULES},
}
# A context is a value of its own: its maker's name says the method.
CONTEXT = "multiprocessing.context."
# Classes of processes → the family of a class that derives from one: by which method its instances start.
PROCESS_FAMILY = "process "
PROCESS_CLASSES = {
    **{f"{module}.Process": f"{PROCESS_FAMILY}default" for module in _MODULES},
    **{f"{CONTEXT}{method}().Process": f"{PROCESS_FAMILY}{method}" for method in METHODS},
    **{
        f"{CONTEXT}{name}Process": f"{PROCESS_FAMILY}{name.lower()}"
        for name in ("Fork", "Spawn", "ForkServer")
    },
}
PROCESSES |= dict.fromkeys(PROCESS_CLASSES, "process")
PROCESSES |= {f"{CONTEXT}{method}().Pool": "pool" for method in METHODS}
# What a pool runs, by the methods that take it; all such calls go to one value, whichever context made the pool.
POOL = "multiprocessing.Pool"
_TAKING = ("map", "starmap", "imap", "imap_unordered", "apply", "apply_async", "map_async", "starmap_async")
PROCESSES |= {f"{POOL}().{method}": "work" for method in _TAKING}
EXECUTOR = "concurrent.futures.ProcessPoolExecutor"
# The first of these makes an executor start its processes.
PROCESSES |= {f"{EXECUTOR}().{method}": "submission" for method in ("submit", "map")}
