"""Formats that hosts read, held against their schemas, for findings of every odd kind."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import jsonschema
import pytest
from made_runs import ODD, SOURCE, a_fix, a_run, finding, written

from jaxlint.columns import split_lines
from jaxlint.finding import Applicability, Confidence, Edit, Fix, Place, Related, Severity, Span
from jaxlint.fix.apply import apply

SCHEMAS = Path(__file__).parents[2] / "fixtures" / "schemas"
ROOT = "%SRCROOT%"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Runs lie in a repository, in its directory `work`."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return tmp_path


def validate(document: Any, name: str) -> None:
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(document)


def documents(name: str, output_format: str) -> tuple[Any, str]:
    text = written(ODD[name](), output_format)
    text.encode()  # whatever a message or a path holds can be written to a file
    return json.loads(text), text


# ---------------------------------------------------------------- SARIF


@pytest.mark.parametrize("name", ODD)
def test_sarif_is_valid(name: str) -> None:
    log, _ = documents(name, "sarif")
    validate(log, "sarif-2.1.0.json")
    [run] = log["runs"]
    driver = run["tool"]["driver"]
    rules = driver["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    codes = {rule["id"] for rule in (*rules, *driver.get("notifications", ()))}
    assert codes == {finding.code for finding in ODD[name]().findings}
    for rule in rules:
        # What code scanning requires beyond the schema, and the lengths it takes.
        assert rule["help"]["text"] and rule["help"]["markdown"]
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert rule["properties"]["precision"] in ("low", "medium", "high")
        assert rule["properties"]["problem.severity"] in ("error", "warning", "recommendation")


def test_sarif_refuses_what_is_wrong() -> None:
    """The validator is one."""
    log, _ = documents("one", "sarif")
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(jsonschema.ValidationError):
        validate(log, "sarif-2.1.0.json")


def sarif_run(*arguments: Any, **options: Any) -> dict[str, Any]:
    [run] = json.loads(written(a_run(*arguments, **options), "sarif"))["runs"]
    return run  # type: ignore[no-any-return]  # what JSON holds has no type


def test_sarif_result() -> None:
    loop = Related(Place("a.py", Span(3, 1, 3, 6)), "the loop")
    given = finding(related=[loop], confidence=Confidence.MEDIUM, severity=Severity.ERROR)
    [result] = sarif_run(given, **{"a.py": SOURCE})["results"]
    fingerprints = result.pop("partialFingerprints")
    assert list(fingerprints) == ["jaxlint/v1"] and re.fullmatch("[0-9a-f]{32}", fingerprints["jaxlint/v1"])
    artifact = {"uri": "work/a.py", "uriBaseId": ROOT}
    assert result == {
        "ruleId": "JAX103",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": "`f` is compiled again. Move it."},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {"startLine": 4, "startColumn": 6, "endLine": 4, "endColumn": 30},
                },
                "logicalLocations": [{"fullyQualifiedName": "main", "kind": "function"}],
            }
        ],
        "properties": {"confidence": "medium"},
        "relatedLocations": [
            {
                "id": 1,
                "message": {"text": "the loop"},
                "physicalLocation": {
                    "artifactLocation": artifact,
                    "region": {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 6},
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("`fs[0](1)` is traced.", r"`fs\[0\](1)` is traced."),
        ("`x[0] + f[i](1)`, `\\d`", r"`x\[0\] + f\[i\](1)`, `\\d`"),
        ("`x[0]` (or `y[1]`), `\\d`", "`x[0]` (or `y[1]`), `\\d`"),
    ],
)
def test_sarif_code_is_no_link(message: str, text: str) -> None:
    loop = Related(Place("a.py", Span(3, 1, 3, 6)), message)
    [result] = sarif_run(finding(message=message, related=[loop]), **{"a.py": SOURCE})["results"]
    assert result["message"] == result["relatedLocations"][0]["message"] == {"text": text}


def test_sarif_rule_is_the_page() -> None:
    [rule] = sarif_run(finding(confidence=Confidence.LOW), finding(confidence=Confidence.MEDIUM))["tool"][
        "driver"
    ]["rules"]
    assert rule["name"] == "JitInLoop"
    assert rule["defaultConfiguration"] == {"level": "warning"}
    assert rule["properties"] == {
        "precision": "medium",
        "problem.severity": "warning",
        "tags": ["jax", "retrace"],
    }
    assert rule["help"]["markdown"].startswith("## What it does")
    assert "```python\n" in rule["help"]["markdown"] and "python bad" not in rule["help"]["markdown"]


def test_sarif_failures_are_notifications() -> None:
    log, _ = documents("a cannot-parse without a span", "sarif")
    [run] = log["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["JAX103"]
    [invocation] = run["invocations"]
    assert not invocation["executionSuccessful"] and invocation["exitCode"] == 2
    [notification] = invocation["toolExecutionNotifications"]
    assert notification["descriptor"] == {"id": "JAX001"} and notification["level"] == "error"
    log, _ = documents("no file", "sarif")
    [notification] = log["runs"][0]["invocations"][0]["toolConfigurationNotifications"]
    assert notification["message"]["text"] == "a.py: no such file or directory"


@pytest.mark.parametrize("name", [name for name in ODD if "path" in name])
def test_sarif_paths(name: str, repository: Path) -> None:
    [run] = json.loads(written(ODD[name](), "sarif"))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert re.fullmatch(r"(file:///)?[A-Za-z0-9_.~/%-]+", artifact["uri"])
    base = run["originalUriBaseIds"][ROOT]["uri"] if artifact.get("uriBaseId") == ROOT else ""
    path = os.fsdecode(unquote_to_bytes((base + artifact["uri"]).removeprefix("file://")))
    assert os.path.normpath(path) == os.path.abspath(ODD[name]().findings[0].path)
    inside = Path(path).is_relative_to(repository)
    assert inside == (artifact.get("uriBaseId") == ROOT) and ".." not in artifact["uri"]


def test_sarif_columns_are_utf16(random_lines: list[str]) -> None:
    for line in random_lines:
        begin = random.Random(line).randrange(len(line))
        run = sarif_run(finding(span=Span(1, begin + 1, 1, len(line) + 1)), **{"a.py": f"{line}\n"})
        region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
        units = line.encode("utf-16-le")
        marked = units[2 * (region["startColumn"] - 1) : 2 * (region["endColumn"] - 1)].decode("utf-16-le")
        assert marked == line[begin:]
        assert run["columnKind"] == "utf16CodeUnits"


def test_sarif_fix() -> None:
    edits = (Span(5, 9, 5, 13), "'é'"), (Span(1, 1, 1, 1), "import g\n")
    [result] = sarif_run(finding(fix=a_fix(Applicability.UNSAFE, *edits)), **{"a.py": SOURCE})["results"]
    [fix] = result["fixes"]
    assert fix["description"] == {"text": "Do it (unsafe)"}
    [change] = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "work/a.py", "uriBaseId": ROOT}
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 5, "startColumn": 9, "endLine": 5, "endColumn": 14},
            "insertedContent": {"text": "'é'"},
        },
        {
            "deletedRegion": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
            "insertedContent": {"text": "import g\n"},
        },
    ]
    advice = a_fix(Applicability.DISPLAY, *edits)
    assert "fixes" not in sarif_run(finding(fix=advice), **{"a.py": SOURCE})["results"][0]


# ---------------------------------------------------------------- fingerprints


def fingerprints(output_format: str, source: str, *lines: int) -> list[str]:
    text = written(a_run(*(finding(span=Span(n, 1, n, 2)) for n in lines), **{"a.py": source}), output_format)
    if output_format == "gitlab":
        return [item["fingerprint"] for item in json.loads(text)]
    [run] = json.loads(text)["runs"]
    return [result["partialFingerprints"]["jaxlint/v1"] for result in run["results"]]


@pytest.mark.parametrize("output_format", ["gitlab", "sarif"])
def test_fingerprints_survive_shifts_and_are_unique(output_format: str) -> None:
    before = fingerprints(output_format, "f(1)\ng(2)\nf(1)\n", 1, 2, 3)
    assert len(set(before)) == 3
    assert fingerprints(output_format, "# new\n\n\tf(1)\ng( 2)\n# new\nf(1)   \n", 3, 6) == [
        before[0],
        before[2],
    ]
    assert fingerprints(output_format, "f(1)\ng(3)\nf(1)\n", 1, 2, 3)[1] not in before


def test_fingerprints_of_one_line_and_of_two_files() -> None:
    run = a_run(
        finding(), finding(), finding(symbol="other"), finding(code="JAX301"), finding("b.py"),
        **{"a.py": SOURCE, "b.py": SOURCE},
    )  # fmt: skip
    found = [item["fingerprint"] for item in json.loads(written(run, "gitlab"))]
    assert len(set(found)) == len(found) == 5


# ---------------------------------------------------------------- GitLab


@pytest.mark.parametrize("name", ODD)
def test_gitlab_is_valid(name: str) -> None:
    items, _ = documents(name, "gitlab")
    validate(items, "gitlab-code-quality.json")
    assert len(items) == len(ODD[name]().findings) == len({item["fingerprint"] for item in items})


def test_gitlab_item() -> None:
    [item] = json.loads(written(a_run(finding(span=Span(3, 1, 4, 2)), **{"a.py": SOURCE}), "gitlab"))
    assert item.pop("fingerprint")
    assert item == {
        "description": "JAX103: `f` is compiled again. Move it.",
        "check_name": "jit-in-loop",
        "severity": "major",
        "location": {"path": "work/a.py", "lines": {"begin": 3, "end": 4}},
    }


# ---------------------------------------------------------------- reviewdog


@pytest.mark.parametrize("name", ODD)
def test_rdjson_is_valid(name: str) -> None:
    result, _ = documents(name, "rdjson")
    validate(result, "rdformat.json")
    lines = written(ODD[name](), "rdjsonl").splitlines()
    assert len(lines) == len(result["diagnostics"]) == len(ODD[name]().findings)
    for line, diagnostic in zip(lines, result["diagnostics"], strict=True):
        validate(json.loads(line), "rdformat.json")
        assert json.loads(line) == {**diagnostic, "source": result["source"]}


def test_rdjson_diagnostic() -> None:
    given = finding(
        span=Span(5, 16, 5, 20), related=[Related(Place("b.py", Span(2, 1, 2, 3)), "jitted here")]
    )
    [diagnostic] = json.loads(written(a_run(given, **{"a.py": SOURCE}), "rdjson"))["diagnostics"]
    assert diagnostic == {
        "message": "`f` is compiled again. Move it.\n- jitted here: b.py:2",
        "location": {
            "path": "a.py",
            "range": {"start": {"line": 5, "column": 23}, "end": {"line": 5, "column": 27}},
        },
        "severity": "WARNING",
        "code": {"value": "JAX103"},
    }


def test_rdjson_columns_are_utf8(random_lines: list[str]) -> None:
    for line in random_lines:
        begin = random.Random(line).randrange(len(line))
        run = a_run(finding(span=Span(1, begin + 1, 1, len(line) + 1)), **{"a.py": f"{line}\n"})
        [diagnostic] = json.loads(written(run, "rdjson"))["diagnostics"]
        ends = diagnostic["location"]["range"]
        marked = line.encode()[ends["start"]["column"] - 1 : ends["end"]["column"] - 1]
        assert marked.decode() == line[begin:]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(40))
def test_a_suggestion_is_the_fix(seed: int, ending: str) -> None:
    """Putting the text in place of the lines that a suggestion names does what the fix does: each with a "\\n"
    behind it, as hosts keep lines."""
    chance = random.Random(seed)
    lines = [f"line {chance.choice('日é😀x')} {n}" for n in range(8)]
    source = ending.join(lines) + (ending if chance.random() < 0.7 else "")
    edits = []
    for number in sorted(chance.sample(range(1, 8), 2)):
        first = chance.randrange(1, len(lines[number - 1]) + 2)
        last = chance.randrange(first, len(lines[number - 1]) + 2)
        text = chance.choice(["", "new", f"two{ending}lines"])
        edits.append(Edit(Span(number, first, number, last), text))
    if chance.random() < 0.3:
        edits = [Edit(Span(3, 1, 4, 1), chance.choice(["", f"instead{ending}"]))]
    fix = Fix("Do it", Applicability.SAFE, tuple(edits))
    [diagnostic] = json.loads(written(a_run(finding(fix=fix), **{"a.py": source}), "rdjson"))["diagnostics"]
    [suggestion] = diagnostic["suggestions"]
    first, last = suggestion["range"]["start"]["line"], suggestion["range"]["end"]["line"]
    old = split_lines(source)
    text = suggestion["text"]
    new = [
        *old[: first - 1],
        text + "\n" if text or edits[0].span.end_line == edits[0].span.line else "",
        *old[last:],
    ]
    assert "".join(new).rstrip("\r\n") == apply(source, edits).rstrip("\r\n")


def test_advice_and_fixes_of_what_is_gone_are_no_suggestions() -> None:
    advice = finding(fix=a_fix(Applicability.DISPLAY, (Span(4, 6, 4, 30), "g")))
    late = finding(fix=a_fix(Applicability.SAFE, (Span(9, 1, 9, 2), "g")))
    for run in (a_run(advice, **{"a.py": SOURCE}), a_run(late, **{"a.py": SOURCE}), a_run(late)):
        [diagnostic] = json.loads(written(run, "rdjson"))["diagnostics"]
        assert "suggestions" not in diagnostic


# ---------------------------------------------------------------- JUnit


@pytest.mark.parametrize("name", ODD)
def test_junit_is_well_formed_and_counts(name: str) -> None:
    text = written(ODD[name](), "junit")
    top = ElementTree.fromstring(text.encode())
    assert top.tag == "testsuites"
    suites = list(top)
    for suite in suites:
        assert suite.tag == "testsuite" and suite.get("name")
        cases = list(suite)
        assert all(case.tag == "testcase" and case.get("name") and case.get("classname") for case in cases)
        kinds = [child.tag for case in cases for child in case]
        counted = [int(suite.get(key, "-1")) for key in ("tests", "failures", "errors")]
        assert counted == [len(cases), kinds.count("failure"), kinds.count("error")]
    for key in ("tests", "failures", "errors"):
        assert int(top.get(key, "-1")) == sum(int(suite.get(key, "-1")) for suite in suites)
    run = ODD[name]()
    assert int(top.get("tests", "0")) == max(1, len(run.findings) + len(run.problems))
    assert (int(top.get("errors", "0")) > 0) == (run.status == 2)
    assert text.isascii()


def test_junit_case() -> None:
    related = Related(Place("b.py", Span(2, 1, 2, 3)), "jitted here")
    top = ElementTree.fromstring(written(a_run(finding(message="a < b & c", related=[related])), "junit"))
    [[case]] = top
    assert case.attrib == {
        "name": "JAX103 jit-in-loop at line 4, column 6",
        "classname": "work/a.py",
        "time": "0",
    }
    [failure] = case
    assert failure.attrib == {"message": "a < b & c", "type": "warning (high confidence)"}
    assert failure.text == "work/a.py:4:6: JAX103 a < b & c\nb.py:2: jitted here"


def test_junit_without_findings_is_a_test_that_passed() -> None:
    top = ElementTree.fromstring(written(a_run(status=0), "junit"))
    [[case]] = top
    assert (top.get("tests"), top.get("failures"), len(case)) == ("1", "0", 0)


@pytest.fixture
def random_lines() -> list[str]:
    chance = random.Random(7)
    alphabet = "ab =(\t'é日本😀\U0001d518\u0301\u200d\x0c\x85\u2028"
    return ["".join(chance.choices(alphabet, k=chance.randrange(1, 40))) for _ in range(100)]
