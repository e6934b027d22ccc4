"""Made-up runs, for tests of the formats that hosts read: sources, paths and findings of every odd kind."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence

from jaxlint import report
from jaxlint.engine_codes import CANNOT_PARSE, INTERNAL_ERROR, UNUSED_SUPPRESSION
from jaxlint.finding import Applicability, Confidence, Edit, Finding, Fix, Place, Related, Severity, Span
from jaxlint.project.files import SourceFile
from jaxlint.record import replace
from jaxlint.report.run import Run

SOURCE = "import jax\n\nfor i in range(3):\n\tf = jax.jit(lambda x: x + i)\n\tprint('日本😀', f(i))\n"


JIT = Span(4, 6, 4, 30)


def finding(
    path: str = "a.py",
    span: Span = JIT,
    *,
    code: str = "JAX103",
    message: str = "`f` is compiled again. Move it.",
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.HIGH,
    symbol: str = "main",
    related: Sequence[Related] = (),
    fix: Fix | None = None,
) -> Finding:
    slug = {"JAX103": "jit-in-loop", "JAX301": "missing-donation"}[code]
    return Finding(code, slug, message, severity, confidence, Place(path, span), symbol, tuple(related), fix)


def a_fix(applicability: Applicability, *edits: tuple[Span, str]) -> Fix:
    return Fix("Do it", applicability, tuple(Edit(span, text) for span, text in edits))


def a_run(*findings: Finding, status: int = 1, **sources: str) -> Run:
    """A run over sources by path; every path that a finding has and no source is not to be read."""
    files = {path: SourceFile(path, os.path.abspath(path), text.encode()) for path, text in sources.items()}
    return Run(findings, files, status=status)


def written(run: Run, output_format: str) -> str:
    stream = io.StringIO()
    report.write(run, output_format, stream)
    return stream.getvalue()


def _odd_path(path: str) -> Callable[[], Run]:
    return lambda: a_run(finding(path), **{path: SOURCE})


_ELSEWHERE = Related(Place("/elsewhere/b.py", Span(2, 3, 2, 9)), "jitted here")
_NO_SPAN = CANNOT_PARSE.finding(Place("broken.py", Span(1, 1, 1, 1)), "cannot parse: nothing\nto see")
_WIDE = "x" * 50_000 + "; 日本 = '😀' * 2\n"

ODD: dict[str, Callable[[], Run]] = {
    "nothing": lambda: a_run(status=0, **{"a.py": SOURCE}),
    "no file": lambda: Run([], {}, status=2, problems=["a.py: no such file or directory"]),
    "one": lambda: a_run(finding(), **{"a.py": SOURCE}),
    "wide characters": lambda: a_run(finding(span=Span(5, 16, 5, 20)), **{"a.py": SOURCE}),
    "a long line": lambda: a_run(finding(span=Span(1, 50_003, 1, 50_005)), **{"a.py": _WIDE}),
    "gone": lambda: a_run(finding()),
    "shorter by now": lambda: a_run(finding(), **{"a.py": "x\n"}),
    "a cannot-parse without a span": lambda: a_run(_NO_SPAN, finding(), status=2, **{"a.py": SOURCE}),
    "an internal error": lambda: a_run(
        INTERNAL_ERROR.finding(Place("a.py", Span(3, 1, 3, 4)), "boom"), status=2, **{"a.py": SOURCE}
    ),
    "a code of the engine": lambda: a_run(
        UNUSED_SUPPRESSION.finding(Place("a.py", Span(3, 1, 3, 4)), "not reported here"), **{"a.py": SOURCE}
    ),
    "explained elsewhere": lambda: a_run(finding(related=[_ELSEWHERE]), **{"a.py": SOURCE}),
    "a safe fix": lambda: a_run(
        finding(fix=a_fix(Applicability.SAFE, (Span(4, 6, 4, 30), "g"), (Span(1, 1, 1, 1), "import g\n"))),
        **{"a.py": SOURCE},
    ),
    "advice": lambda: a_run(
        finding(fix=a_fix(Applicability.DISPLAY, (Span(4, 6, 4, 30), "g"))), **{"a.py": SOURCE}
    ),
    "a message of every kind": lambda: a_run(
        finding(message="50% of <b>\"x\"</b> & 'y' | `z`: a, b::c\r\n\x00\x1b[31m \ud800 日本😀"),
        **{"a.py": SOURCE},
    ),
    "every severity and confidence": lambda: a_run(
        *(
            replace(finding(severity=severity, confidence=confidence), symbol=f"{severity}{confidence}")
            for severity in Severity
            for confidence in Confidence
        ),
        **{"a.py": SOURCE},
    ),
    "many": lambda: a_run(*(finding(span=Span(n, 1, n, 2)) for n in range(1, 200)), **{"a.py": "x\n" * 200}),
    "a path with blanks": _odd_path("with space/a b.py"),
    "a path with signs": _odd_path("100%/#1/a:b,c&d.py"),
    "a path with a line end": _odd_path("a\nb\r.py"),
    "a path that is no text": _odd_path("caf\udce9.py"),
    "a path in Japanese": _odd_path("日本/😀.py"),
    "a path above": _odd_path("../a.py"),
    "an absolute path": _odd_path("/elsewhere/a b.py"),
}
