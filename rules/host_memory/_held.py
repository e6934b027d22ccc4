"""What a cache holds, by the operand that goes into it."""

from __future__ import annotations

from jaxlint.flow.facts import Kind, Operand

_MODELS = ("equinox.nn.", "flax.nnx.")  # their objects hold arrays; those of Flax's linen hold none


def holds_device_array(value: Operand | None) -> bool:
    """Whether an array on the device is in it."""
    return value is not None and any(part.kind is Kind.DEVICE for part in value.walk())


def holds_model(value: Operand | None) -> bool:
    """Whether a layer of a library whose models are made of arrays is in it."""
    return value is not None and any(
        part.kind is Kind.OTHER and part.class_name.startswith(_MODELS) for part in value.walk()
    )
