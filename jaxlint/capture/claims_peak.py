"""What the peak of the temporary heap is made of, and how to make it smaller."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from jaxlint.capture.case import Case
from jaxlint.capture.claim import Basis, Claim, Remedy
from jaxlint.capture.frames import Frame
from jaxlint.capture.plan import PeakBuffer
from jaxlint.capture.roles import Role
from jaxlint.capture.sizes import share, shown

_MATTERS = 0.3  # of what the plan needs: below it the temp block is not the story
_WORTH = 0.1  # of a role: a remedy for less of it is not offered
_MOST_FRAMES = 4
_GEMM_WORKSPACE = 64 << 20  # what hipBLASLt takes for each matrix product on gfx950


def peak(case: Case) -> Iterator[Claim]:
    """The role that holds the most at the peak, where memory is short or may be, and each that holds much of it."""
    plan = case.plan
    if not case.open or not plan.heap_peak or plan.totals.temp < _MATTERS * plan.totals.total:
        return
    roles = plan.by_role()
    given: list[Remedy] = []
    for place, role in enumerate(roles):
        if place and (role not in _OF_GRADIENTS or roles[role] < _MATTERS * plan.heap_peak):
            continue
        buffers = [buffer for buffer in plan.buffers if buffer.role is role]
        cause, remedies, rules = _ABOUT[role](case, buffers)
        yield Claim(
            f"peak-{role}",
            Basis.MEASURED if plan.traced else Basis.INFERRED,
            f"at the peak of the temporary heap, {shown(plan.heap_peak)},"
            f" {share(roles[role], plan.heap_peak)} is {_WORDS[role]}",
            cause=cause,
            remedies=tuple(remedy for remedy in remedies if remedy not in given),
            rules=rules,
            frames=frames_of(buffers),
            function=case.function,
        )
        given += remedies


_OF_GRADIENTS = (Role.FORWARD, Role.BACKWARD, Role.RECOMPUTED)  # what a step with gradients is made of
_WORDS = {
    Role.FORWARD: "forward, kept for the backward pass",
    Role.BACKWARD: "backward: gradients and their temporaries",
    Role.RECOMPUTED: "forward values that remat computes again",
    Role.WORKSPACE: "workspace of library calls",
    Role.OTHER: "neither forward nor backward",
}
_About = tuple[str, list[Remedy], tuple[str, ...]]


def _forward(case: Case, buffers: Sequence[PeakBuffer]) -> _About:
    kept = _sum(buffers)
    single = _sum(b for b in buffers if b.shape.element == "f32")
    remedies = [
        case.remedy(
            "jax.checkpoint on the block, so that the backward pass computes it again",
            kept,
            "about one more forward pass; the blocks' inputs stay",
        ),
        case.remedy(
            "jax.checkpoint with policy=jax.checkpoint_policies.dots_saveable, which keeps matrix products",
            None,
            "less time than that, for less of the saving: compile and compare memory_analysis()",
        ),
        _micro_batches(case),
    ]
    if single:
        remedies.append(
            case.remedy("activations in bfloat16", single // 2, "precision; parameters and sums stay float32")
        )
    return "activations: they grow with the batch and the length of the sequence", remedies, ("JAX310",)


def _micro_batches(case: Case) -> Remedy:
    """The fewest with which it fits, or two where that is not known. What has the shape of a parameter stays."""
    kept = _sum(b for b in case.plan.buffers if b.role in _OF_GRADIENTS and not case.is_of_parameter(b.shape))
    excess = case.excess or 0
    count = 2
    while kept - kept // count < excess and count < 64:
        count *= 2
    return case.remedy(
        f"{count} micro-batches with gradient accumulation (optax.MultiSteps, or a scan that adds gradients up)",
        kept - kept // count,
        "smaller kernels, and a sum of gradients as large as the parameters",
    )


def _backward(case: Case, buffers: Sequence[PeakBuffer]) -> _About:
    held = _sum(buffers)
    of_parameters = _sum(b for b in buffers if case.is_of_parameter(b.shape))
    remedies: list[Remedy] = []
    if held - of_parameters >= _WORTH * held:
        remedies.append(_micro_batches(case))
    if of_parameters >= _WORTH * held:
        remedies += [
            case.remedy(
                "shard parameters and gradients over N devices (FSDP): here for two",
                of_parameters // 2,
                "communication",
            ),
            case.remedy(
                "gradients layer by layer: a scan over the blocks, or optimiser updates inside it",
                None,
                "a rewrite",
            ),
        ]
    if of_parameters > held - of_parameters:
        return "gradients of parameters, and what it takes to compute them", remedies, ()
    return "gradients of activations: they grow with the batch as the activations do", remedies, ()


def _recomputed(case: Case, buffers: Sequence[PeakBuffer]) -> _About:
    remedies = [
        _micro_batches(case),
        case.remedy("remat around smaller parts: each is recomputed as a whole", None, "more saved inputs"),
    ]
    return "remat is at work: what is computed again for one block is the peak now", remedies, ()


def _workspace(case: Case, buffers: Sequence[PeakBuffer]) -> _About:
    largest = max((buffer.size for buffer in buffers), default=0)
    usual = " (hipBLASLt takes 64 MiB for each matrix product)" if largest == _GEMM_WORKSPACE else ""
    remedies = [case.remedy(f"usually small: look at the rest of the plan first{usual}", None, "")]
    return "scratch that GEMM and convolution libraries ask for", remedies, ()


def _other(case: Case, buffers: Sequence[PeakBuffer]) -> _About:
    remedies = [
        case.remedy("a smaller batch, or lax.map over pieces of it", _sum(buffers) // 2, "smaller kernels"),
        case.remedy("lower precision for the largest buffers", None, "precision"),
    ]
    return "a program without gradients, or operations that XLA made itself", remedies, ()


_ABOUT = {
    Role.FORWARD: _forward,
    Role.BACKWARD: _backward,
    Role.RECOMPUTED: _recomputed,
    Role.WORKSPACE: _workspace,
    Role.OTHER: _other,
}


def stacks(case: Case) -> Iterator[Claim]:
    """What a scan keeps of each step, if that is much of the peak."""
    plan = case.plan
    kept = [b for b in plan.buffers if b.stacked and b.role is Role.FORWARD]
    total = _sum(kept)
    if not case.open or not plan.heap_peak or total < _MATTERS * plan.heap_peak:
        return
    loops = ", ".join(sorted({b.loop for b in kept if b.loop})) or "a scan"
    largest, count = _most(kept)
    yield Claim(
        "scan-stacks",
        Basis.INFERRED,
        f"{loops} stacks {len(kept)} values of each step for the backward pass, {shown(total)} in all, most of it"
        f" {largest} x{count}",
        cause="a differentiated scan keeps what its backward pass needs, a row a step",
        remedies=(
            case.remedy("jax.checkpoint on the scan's body", total, "each block's forward pass runs twice"),
        ),
        rules=("JAX310",),
        frames=frames_of(kept),
        function=case.function,
    )


def attention(case: Case) -> Iterator[Claim]:
    """Scores for each pair of positions: a product and a softmax over arrays that are square at the end."""
    if not case.open:
        return
    squares = _scores(case)
    total = _sum(squares)
    if not squares or total < 0.1 * max(case.plan.heap_peak or 0, 1):
        return
    largest, count = _most(squares)
    yield Claim(
        "attention-scores",
        Basis.INFERRED,
        f"{len(squares)} buffers, {shown(total)}, are square in their last two dimensions, most of them {largest}"
        f" x{count}: scores of attention, one for each head and each pair of positions",
        cause="softmax(q kᵀ) v as written stores a batch x heads x length x length array for each layer",
        remedies=(
            case.remedy("half the length of the sequence", total - total // 4, "shorter context"),
            case.remedy("jax.checkpoint on the attention alone", total, "its forward pass runs twice"),
            case.remedy(
                "fused attention: check that the square buffers leave the plan, not every one of them does",
                total,
                "numerics",
            ),
        ),
        rules=("JAX313",),
        frames=frames_of(squares),
        function=case.function,
    )


def _scores(case: Case) -> list[PeakBuffer]:
    choice = case.subject.choice
    candidates = [b for b in case.plan.buffers if _square(b.shape.dimensions)]
    if choice is None or not candidates:
        return []
    seen: defaultdict[int, set[str]] = defaultdict(set)
    for instruction in choice.module.program.instructions.values():
        operation = instruction.op_name.rpartition("/")[2]
        if operation in ("dot_general", "exp", "reduce_max", "softmax") and instruction.opcode != "parameter":
            shape = instruction.shape if not instruction.shape.parts else instruction.shape.parts[0]
            if _square(shape.dimensions):
                seen[shape.dimensions[-1]].add(operation)
    return [b for b in candidates if _is_softmax(seen[b.shape.dimensions[-1]])]


def _square(dimensions: Sequence[int]) -> bool:
    return len(dimensions) >= 3 and dimensions[-1] == dimensions[-2] >= 64


def _is_softmax(operations: set[str]) -> bool:
    return "dot_general" in operations and bool(operations & {"exp", "reduce_max", "softmax"})


def wide_gradients(case: Case) -> Iterator[Claim]:
    """Copies of 16-bit gradients in 32 bits."""
    choice = case.subject.choice
    if choice is None or not case.open:
        return
    narrow = {
        i.shape.dimensions for i in choice.module.program.parameters() if i.shape.element in ("bf16", "f16")
    }
    wide = [
        b
        for b in case.plan.buffers
        if b.role is Role.BACKWARD and b.shape.element == "f32" and b.shape.dimensions in narrow - {()}
    ]
    total = _sum(wide)
    if total >= 0.1 * max(case.plan.heap_peak or 0, 1):
        yield Claim(
            "wide-gradients",
            Basis.MEASURED,
            f"{len(wide)} gradients, {shown(total)}, are float32 at the peak, while their parameters have 16 bits",
            cause="a whole tree of gradients is converted before it is used",
            remedies=(case.remedy("convert inside the update, leaf by leaf", total, "none"),),
            rules=("JAX603",),
            frames=frames_of(wide),
            function=case.function,
        )


def frames_of(buffers: Iterable[PeakBuffer]) -> tuple[Frame, ...]:
    """The Python lines behind the most bytes, first the values' own, then the callers they have in common."""
    own: Counter[Frame] = Counter()
    callers: Counter[Frame] = Counter()
    for buffer in buffers:
        for depth, frame in enumerate(dict.fromkeys(buffer.frames)):
            (callers if depth else own)[frame] += buffer.size
    first = [frame for frame, _ in own.most_common(_MOST_FRAMES)]
    return (*first, *(frame for frame, _ in callers.most_common() if frame not in first))


def _most(buffers: Iterable[PeakBuffer]) -> tuple[str, int]:
    """The shape that most bytes have, and how many buffers that are."""
    sums: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for buffer in buffers:
        sums[str(buffer.shape)] += buffer.size
        counts[str(buffer.shape)] += 1
    shape = sums.most_common(1)[0][0]
    return shape, counts[shape]


def _sum(buffers: Iterable[PeakBuffer]) -> int:
    return sum(buffer.size for buffer in buffers)
