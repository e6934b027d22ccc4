"""What a project wants to hear: which rules run, and which of their findings are reported, how severe."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from jaxlint import registry
from jaxlint.dependencies.names import format_of
from jaxlint.engine_codes import ENGINE_CODES, FAILURES, OBSERVED_RETRACE, UNKNOWN_CODE
from jaxlint.finding import Finding, Place, Severity, Span
from jaxlint.project import markers, source
from jaxlint.project.files import SourceFile, shown
from jaxlint.project.patterns import Patterns
from jaxlint.project.root import Project
from jaxlint.record import replace
from jaxlint.rule import Rule


class Policy:
    """The settings of a project at work on findings.

    `rules` are the enabled ones of `project`. `mistakes` are JAX003 findings about the settings file.
    Selectors of the settings that name nothing are left aside.
    """

    def __init__(
        self,
        project: Project,
        every_rule: Sequence[Rule],
        *,
        min_severity: Severity,
        honour_noqa: bool = True,
        recorded: bool = False,
    ) -> None:
        """`min_severity` holds where the settings ask for none; `recorded`: there is a record of a run."""
        settings = project.settings
        self.mistakes: list[Finding] = []
        self.project = project
        self._every_rule = every_rule
        self._honour_noqa = honour_noqa
        self._min_severity = (settings.min_severity or min_severity).rank
        self._min_confidence = settings.min_confidence.rank
        select, ignore = self._known(settings.select), self._known(settings.ignore)
        extend_select = self._known(settings.extend_select)
        self.rules = registry.select(
            every_rule, select=select, ignore=ignore, extend_select=extend_select, preview=settings.preview
        )
        if settings.select and not select and not extend_select:
            self.rules = []  # every selector was a mistake, which does not mean all rules
        self._codes = frozenset(rule.meta.code for rule in every_rule) | {code.code for code in ENGINE_CODES}
        wanted = self._named([*(select or ("ALL",)), *extend_select]) - self._named(ignore)
        self._aliases = registry.aliases(every_rule)
        own = FAILURES | {code.code for code in ENGINE_CODES if code.code in wanted}
        if not recorded:  # then it is not looked for, and nothing that suppresses it is unused
            own -= {OBSERVED_RETRACE.code}
        self._enabled = own | {rule.meta.code for rule in self.rules}
        self._severities = self._severity_table()
        self._per_file = [
            (Patterns([pattern]), self._named(self._known(selectors)))
            for pattern, selectors in settings.per_file_ignores.items()
        ]

    def report(self, file: SourceFile, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of one file that are to be reported."""
        return [finding for finding in self.standing(file, findings) if self.is_enough(finding)]

    def standing(self, file: SourceFile, findings: Iterable[Finding]) -> list[Finding]:
        """The findings of one file that nothing holds back; some may not be severe or certain enough to report."""
        judged = self.judged(file)
        found = [self._with_severity(finding) for finding in findings]
        return [finding for finding in self._suppress(file, found, judged) if finding.code in judged]

    def judged(self, file: SourceFile) -> frozenset[str]:
        """The codes that are looked for in a file."""
        return self._enabled - self._ignored_in(file)

    def is_enough(self, finding: Finding) -> bool:
        """Whether a finding is severe and certain enough to be reported. A failure always is."""
        severe = finding.severity.rank >= self._min_severity
        return finding.code in FAILURES or (severe and finding.confidence.rank >= self._min_confidence)

    def mistakes_in_settings(self) -> list[Finding]:
        """The mistakes in the settings file that are to be reported."""
        return [
            finding
            for finding in map(self._with_severity, self.mistakes)
            if finding.code in self._enabled and self.is_enough(finding)
        ]

    # ------------------------------------------------------------ selectors

    def _known(self, selectors: Iterable[str]) -> list[str]:
        """The selectors that name something. The others become mistakes."""
        found = []
        for selector in selectors:
            try:
                registry.codes(selector, self._every_rule)
                found.append(selector)
            except registry.SelectorError as error:
                self.mistakes.append(self._mistake(selector, str(error)))
        return found

    def _named(self, selectors: Iterable[str]) -> frozenset[str]:
        """The codes that selectors name. ALL does not include the failures: those have to be named."""
        codes: set[str] = set()
        for selector in selectors:
            named = registry.codes(selector, self._every_rule)
            codes |= named - FAILURES if selector == "ALL" else named
        return frozenset(codes)

    def _mistake(self, selector: str, message: str) -> Finding:
        path = self.project.settings.file
        return UNKNOWN_CODE.finding(Place(shown(path), _locate(selector, path)), message)

    def _severity_table(self) -> dict[str, Severity]:
        """Severities by code; of several selectors that name a code the longest decides."""
        table = self.project.settings.severity
        return {
            code: table[selector]
            for selector in sorted(self._known(table), key=lambda name: (name != "ALL", len(name)))
            for code in registry.codes(selector, self._every_rule)
        }

    # ------------------------------------------------------------ findings

    def _with_severity(self, finding: Finding) -> Finding:
        severity = self._severities.get(finding.code)
        return finding if severity is None else replace(finding, severity=severity)

    def _ignored_in(self, file: SourceFile) -> frozenset[str]:
        path = self.project.relative(file.absolute)
        return frozenset().union(*(codes for patterns, codes in self._per_file if patterns.cover(path)))

    def _suppress(self, file: SourceFile, findings: list[Finding], judged: frozenset[str]) -> list[Finding]:
        try:
            data = source.read_bytes(file)
            marked = markers.SUPPRESSION.encode() in data
            if not marked and not (findings and markers.NOQA.encode() in data.lower()):
                return findings
            text, _ = source.decode(data)
        except source.SourceError:
            return findings
        from jaxlint.project import suppressions

        return suppressions.apply(
            findings,
            text,
            _tree(file, text) if marked and not format_of(file.path) else None,
            self._codes,
            report_unused=not any(finding.code in FAILURES for finding in findings),
            path=file.path,
            judged_codes=judged,
            honour_noqa=self._honour_noqa,
            aliases=self._aliases,
        )


def _tree(file: SourceFile, text: str) -> ast.Module | None:
    try:
        return file.tree or source.parse(text)
    except source.SourceError:
        return None


def _locate(selector: str, path: str) -> Span:
    """Where a settings file names a selector; its first line where that cannot be told."""
    for number, line in enumerate(_lines(path), start=1):
        for quoted in (f'"{selector}"', f"'{selector}'", selector):
            column = line.find(quoted)
            if column != -1:
                return Span(number, column + 1, number, column + 1 + len(quoted))
    return Span(1, 1, 1, 1)


def _lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8") as file:
            yield from file
    except (OSError, UnicodeDecodeError):
        return
