"""What `--target` names: the device that claims about memory are tested on, there or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from jaxlint.confirm.chips import CUDA, TPU, Chip, chips, from_config
from jaxlint.project.settings import SettingsError
from jaxlint.record import record

AUTO, CPU, GPU = "auto", "cpu", "gpu"
DUMPED = ".txtpb"  # how a file that `jaxlint targets --dump` wrote has to end

_ENVIRONMENT: Mapping[str, Mapping[str, str]] = {
    AUTO: {},
    CPU: {"JAX_PLATFORMS": "cpu"},
    GPU: {"JAX_PLATFORMS": "cuda,cpu"},
    # A chip that is not there is never a platform of the process: `tpu,cpu` would break all that runs eagerly.
    CUDA: {"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"},
    TPU: {
        "JAX_PLATFORMS": "cpu",
        "TPU_SKIP_MDS_QUERY": "1",  # never ask Google Cloud's metadata server
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_ACCELERATOR_TYPE": "v5litepod-4",
        "TPU_LOG_DIR": "disabled",
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # two processes would fight over a lock file
    },
}


class UnknownTarget(SettingsError):
    """A target that does not exist. The text is one line that says what to write instead."""


@record
class Target:
    """A target: a kind (auto, cpu, gpu, cuda, tpu) and, for the last two, the chip that need not be there."""

    kind: str
    chip: Chip | None = None

    @property
    def name(self) -> str:
        """As it is written: `cpu`, `cuda:a6000`."""
        return self.kind if self.chip is None else f"{self.kind}:{self.chip.key}"

    @property
    def environment(self) -> dict[str, str]:
        """What a worker has to have in its environment before it imports jax."""
        return {**_ENVIRONMENT[self.kind], "TF_CPP_MIN_LOG_LEVEL": "3"}

    @property
    def description(self) -> dict[str, Any]:
        """What the worker is told of it (`child/deviceless.py`). Without a topology jax's own device serves."""
        if self.chip is None:
            return {"platform": "" if self.kind == AUTO else self.kind}
        return {
            "platform": self.kind,
            "topology": self.chip.topology,
            "options": dict(self.chip.options),
            "config": self.chip.config,
        }

    @property
    def present(self) -> bool:
        """Whether code can be run there, not only compiled."""
        return self.chip is None

    @property
    def capacity(self) -> int | None:
        """Bytes that the chip holds, None where jax's own device decides."""
        return None if self.chip is None else self.chip.memory


def every_target() -> list[Target]:
    """All that `--target` takes."""
    absent = [Target(kind, chip) for kind, listed in chips().items() for chip in listed.values()]
    return [Target(AUTO), Target(CPU), Target(GPU), *absent]


def resolve(name: str) -> Target:
    """The target of a name, or of `cuda:FILE.txtpb`. Raises UnknownTarget."""
    kind, _, file = name.strip().partition(":")
    if kind.lower() == CUDA and file.endswith(DUMPED):
        return Target(CUDA, _dumped(file))
    known = {target.name: target for target in every_target()}
    target = known.get(name.strip().lower())
    if target is None:
        raise UnknownTarget(f"there is no target {name!r}: {_instead(name.strip().lower(), list(known))}")
    return target


def _dumped(file: str) -> Chip:
    try:
        with open(file, encoding="utf-8") as stream:
            return from_config(file, stream.read())
    except OSError as error:
        raise UnknownTarget(f"{file}: cannot read: {error.strerror}") from None
    except ValueError as error:
        raise UnknownTarget(f"{file}: {error}") from None


def parse(texts: Iterable[str]) -> tuple[Target, ...]:
    """Targets as they are written, several in one text with commas between, each once. Raises UnknownTarget."""
    named = [resolve(name) for text in texts for name in text.split(",") if name.strip()]
    return tuple({target.name: target for target in named}.values()) or (Target(AUTO),)


def _instead(name: str, known: list[str]) -> str:
    """What to write instead of a name that is none."""
    kind, _, key = name.rpartition(":")
    begun = [other for other in known if key and other.rpartition(":")[2].startswith(key)]
    close = begun or get_close_matches(name, known, n=2, cutoff=0.85)
    if close:
        return f"did you mean {' or '.join(close)}?"
    if kind in chips():
        return f"{kind}:CHIP is one of {', '.join(chips()[kind])}"
    return f"give auto, cpu, gpu, {CUDA}:CHIP or {TPU}:CHIP (`jaxlint targets` lists them)"
