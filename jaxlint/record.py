"""Frozen records: data classes for a start that has no time for them.

Facts are made by the hundred thousand, and their classes are defined in every start. A frozen data class with
slots stores each field through `object.__setattr__`, and compiles its methods when it is defined. A record
compiles its constructor when the first object is made, and leaves immutability to the type checker.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[T], T]:
        return lambda decorator: decorator


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class of annotated fields a record: constructor, slots, equality by value, hash and repr.

    Fields of a base record come first. Defaults are shared, so they must be immutable.
    """
    inherited: tuple[str, ...] = getattr(cls, "__match_args__", ())
    own = tuple(name for name in cls.__annotations__ if name not in inherited)
    names = (*inherited, *own)
    body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    defaults = {**getattr(cls, "__defaults", {}), **{name: body.pop(name) for name in own if name in body}}
    metaclass: Any = type(cls)
    made = metaclass(
        cls.__name__,
        cls.__bases__,
        {**body, "__slots__": own, "__match_args__": names, "__defaults": defaults},
    )
    values = attrgetter(*names)

    def construct(self: Any, *arguments: Any, **keywords: Any) -> None:
        made.__init__, made.__copy__ = _compiled(made, names, defaults)
        made.__init__(self, *arguments, **keywords)

    def copy(self: Any) -> Any:
        made.__init__, made.__copy__ = _compiled(made, names, defaults)
        return made.__copy__(self)

    def equal(self: Any, other: object) -> bool:
        return other.__class__ is made and bool(values(self) == values(other))

    def digest(self: Any) -> int:
        return hash(values(self))

    def represent(self: Any) -> str:
        return f"{cls.__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    made.__init__, made.__copy__ = construct, copy
    made.__eq__, made.__hash__, made.__repr__ = equal, digest, represent
    return made  # type: ignore[no-any-return]  # of the class that was passed


def replace(instance: T, **changes: Any) -> T:
    """A record with some fields changed. Raises TypeError for a field that it does not have."""
    new = instance.__copy__()  # type: ignore[attr-defined]  # every record has one
    for name, value in changes.items():
        if name not in new.__match_args__:
            raise TypeError(f"{type(instance).__name__} has no field {name!r}")
        setattr(new, name, value)
    return new  # type: ignore[no-any-return]  # of the class of the instance


def _compiled(cls: type, names: tuple[str, ...], defaults: dict[str, Any]) -> tuple[Any, Any]:
    """Constructor and copy of a record class."""
    parameters = ", ".join(f"{name}=_{name}" if name in defaults else name for name in names)
    stores = "".join(f"\n    self.{name} = {name}" for name in names)
    copies = "".join(f"\n    new.{name} = self.{name}" for name in names)
    source = (
        f"def __init__(self, {parameters}):{stores}\n"
        f"def __copy__(self):\n    new = _new(_cls){copies}\n    return new\n"
    )
    scope: dict[str, Any] = {f"_{name}": value for name, value in defaults.items()}
    scope.update(_cls=cls, _new=object.__new__)
    exec(source, scope)
    return scope["__init__"], scope["__copy__"]
