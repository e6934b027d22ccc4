"""What a change concerns: findings by their own lines, and by those of what explains them."""

from __future__ import annotations

from pathlib import Path

from jaxlint.engine_codes import CANNOT_PARSE
from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.project.review import Review, by_real_path
from jaxlint.project.unified_diff import Change
from jaxlint.record import replace

SOURCE = """\
@decorated(
    one,
)
def function(
    argument,
):
    for i in range(3):
        call(
            i,
        )
"""
LOOP = Span(7, 5, 10, 10)


def span(first: int, last: int | None = None) -> Span:
    return Span(first, 1, last or first, 2)


def finding(place: Span, *related: Span, fix: Fix | None = None) -> Finding:
    places = tuple(Related(Place("a.py", other), "this") for other in related)
    return Finding(
        *("JAX103", "jit-in-loop", "message", Severity.WARNING, Confidence.HIGH, Place("a.py", place)),
        related=places,
        fix=fix,
    )


def review(*added: int, cuts: tuple[int, ...] = (), shown: tuple[range, ...] = ()) -> Review:
    file = SourceFile("a.py", "/nowhere/a.py", SOURCE.encode())
    change = Change(frozenset(added), frozenset(cuts), shown)
    return Review({"/nowhere/a.py": change}, [file])


def concerns(review: Review, *findings: Finding) -> bool:
    return bool(review.narrow(findings))


def test_own_lines() -> None:
    assert concerns(review(8), finding(span(8)))
    assert concerns(review(9), finding(span(8, 10)))
    assert not concerns(review(7, 9), finding(span(8)))
    assert not concerns(review(), finding(span(8, 10)))


def test_what_was_taken_out_from_within() -> None:
    assert concerns(review(cuts=(8,)), finding(span(8, 10)))
    assert not concerns(review(cuts=(7, 10)), finding(span(8, 10)))
    assert not concerns(review(cuts=(8,)), finding(span(8)))


def test_the_cause() -> None:
    assert concerns(review(2), finding(span(8), span(2)))
    assert not concerns(review(3), finding(span(8), span(2)))


def test_of_a_loop_or_a_function_it_is_the_header() -> None:
    assert concerns(review(7), finding(span(8), LOOP))
    assert not concerns(review(9), finding(span(8), LOOP))
    function = Span(1, 1, 10, 10)
    assert all(concerns(review(line), finding(span(8), function)) for line in range(1, 7))
    assert not concerns(review(7), finding(span(8), function))


def test_an_end_at_the_beginning_of_a_line() -> None:
    assert not concerns(review(9), finding(Span(8, 1, 9, 1)))


def test_another_file(tmp_path: Path) -> None:
    other = Place(str(tmp_path / "b.py"), span(3))
    explained = replace(finding(span(8)), related=(Related(other, "this"),))
    changes = {str((tmp_path / "b.py").resolve()): Change(frozenset({3}), frozenset(), ())}
    assert concerns(Review(changes, []), explained)
    assert not concerns(Review(changes, []), finding(span(3)))


def test_a_failure_concerns_the_file() -> None:
    assert concerns(review(1), CANNOT_PARSE.finding(Place("a.py", span(9)), "cannot parse"))
    assert not concerns(review(1), CANNOT_PARSE.finding(Place("b.py", span(1)), "cannot parse"))


def test_fixes_stay_within_one_stretch_of_the_diff() -> None:
    def kept(applicability: Applicability, *spans: Span, shown: tuple[range, ...]) -> bool:
        fix = Fix("Do", applicability, tuple(Edit(each, "") for each in spans))
        [narrowed] = review(8, shown=shown).narrow([finding(span(8), fix=fix)])
        return narrowed.fix is not None

    near, far = span(8), span(2)
    assert kept(Applicability.SAFE, near, shown=(range(5, 10),))
    assert kept(Applicability.UNSAFE, near, Span(9, 1, 10, 1), shown=(range(5, 10),))
    assert not kept(Applicability.SAFE, near, far, shown=(range(5, 10),))
    assert not kept(Applicability.SAFE, near, far, shown=(range(1, 4), range(5, 10)))
    assert kept(Applicability.DISPLAY, near, far, shown=(range(5, 10),))


def test_where_the_files_of_a_diff_lie(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "b.py").touch()
    change = Change(frozenset(), frozenset(), ())
    found = by_real_path({"a.py": change, "b.py": change}, [str(tmp_path), str(tmp_path / "below")])
    top = tmp_path.resolve()
    assert set(found) == {str(top / "a.py"), str(top / "below" / "b.py")}
