"""Calls that show a value to somebody: under a trace they show the tracer, once."""

from __future__ import annotations

PRINTING = frozenset(
    {
        "builtins.print",
        "pprint.pprint",
        "rich.print",
        "rich.pretty.pprint",
        "sys.stdout.write",
        "sys.stderr.write",
        "tqdm.tqdm.write",
        "wandb.log",
        "mlflow.log_metric",
        "mlflow.log_metrics",
    }
)
_LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
_LOGGING = frozenset({"logging", "absl.logging", "loguru.logger"})
_LOGGERS = frozenset({"logger", "log", "_logger", "_log", "logging"})
# Methods of the writers of TensorBoard and its like.
_WRITING = frozenset({"add_scalar", "add_scalars", "add_histogram", "log_metric", "log_metrics"})


def is_printing(dotted: str) -> bool:
    """Whether a library call prints or logs its arguments."""
    if dotted in PRINTING:
        return True
    head, _, last = dotted.rpartition(".")
    return head in _LOGGING and last in _LEVELS


def shows(owner: str, method: str) -> bool:
    """Whether a method of an object that goes by this name is one of a logger."""
    return method in _WRITING or (method in _LEVELS and owner.rpartition(".")[2].lower() in _LOGGERS)
