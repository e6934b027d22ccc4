"""Static arguments that are told apart by identity and made anew: the call that gets one finds no trace from before
that one was made."""

from __future__ import annotations

from jaxlint.flow.boundaries.crossing import Passed
from jaxlint.flow.domain.boundary_state import BoundaryState
from jaxlint.flow.domain.freshness import freshness
from jaxlint.flow.domain.kinds import FOREIGN, FUNCTION, INSTANCE, PARTIAL
from jaxlint.flow.domain.objects import Foreign
from jaxlint.flow.domain.operand import hashing
from jaxlint.flow.domain.values import Value
from jaxlint.flow.evaluations import Evaluation
from jaxlint.flow.frame import Call, Frame, api_call

_SET_UP = frozenset({"setUp", "setup_method", "__init__"})


@api_call("mock")
def mock(frame: Frame, dotted: str, last: str, call: Call) -> Value:
    """`mock.MagicMock(…)`: equal to itself alone."""
    return Value(FOREIGN, data=Foreign(dotted, frame.evaluation, frame.loop, call.node))


def maker_of_static(
    frame: Frame, state: BoundaryState, passed: list[Passed]
) -> tuple[Evaluation, bool] | None:
    """(the evaluation that makes a static argument of a call, whether in a loop of it), where there is one."""
    for argument in passed:
        made = _maker(frame, argument.value) if argument.is_static(state) else None
        if made is not None:
            return made
    return None


def _maker(frame: Frame, value: Value) -> tuple[Evaluation, bool] | None:
    if value.kind not in (FUNCTION, INSTANCE, FOREIGN, PARTIAL):
        return None
    is_mock = value.kind == FOREIGN and value.data.api.startswith(("unittest.mock.", "mock."))
    home = value.data.home
    if home is None or not (is_mock or hashing(value) == "identity"):
        return None
    set_up = home.function is not None and home.function.name in _SET_UP
    new = freshness(frame, value.data)
    return (home, new == "loop") if new or set_up else None
