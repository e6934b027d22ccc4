"""The families that a fault belongs to."""

from __future__ import annotations

from enum import Enum


class Family(str, Enum):
    """What kind of fault it is. The first three kill long runs; a log may name any of the first four."""

    RETRACE = "retrace leak"
    HOST = "host RAM"
    DEVICE = "device memory"
    CACHE = "stale cache or CUDA library"
    ABSORBED = "absorbed change"
    PRECISION = "precision"
    NONE = "none"

    def __str__(self) -> str:
        return self.value


# What each of them is, in a sentence.
MEANINGS = {
    Family.RETRACE: "a jitted function is compiled again and again; executables for new values and shapes are kept",
    Family.HOST: "the process outgrew the machine's RAM: the kernel kills it, and no traceback is left",
    Family.DEVICE: "the allocator of the GPU or TPU failed, in plain words or behind another error",
    Family.CACHE: "an executable, cuDNN or ptxas that does not belong to this jaxlib or this driver was used",
    Family.ABSORBED: "a trace that was there answers for a value that has changed since",
    Family.PRECISION: "the dtype is wider than was meant, or narrower than the algorithm stands",
    Family.NONE: "this is how it works",
}
