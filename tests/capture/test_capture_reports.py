"""What is printed: text, JSON, the page with pictures, and what is joined to it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from capture import simulated
from capture.places import FIXTURES, ROOT, fixture
from capture.simulated import MIB, NEW, trained

from jaxlint.capture import self_test, treemap
from jaxlint.capture.treemap import Rectangle
from jaxlint.cli import main


@pytest.fixture
def capture(tmp_path):
    """Writes a capture, and gives its path."""

    def make(scenario: str, **options) -> Path:
        directory = tmp_path / "captures"
        directory.mkdir(exist_ok=True)
        return simulated.write(directory / f"{scenario}.xplane.pb", trained(scenario, NEW, **options))

    return make


def output(capsys, *arguments: object, status: int = 0) -> str:
    assert main(["oom", *map(str, arguments)]) == status
    return capsys.readouterr().out


def test_text_has_plan_runtime_and_diagnosis(capture, capsys):
    text = output(capsys, capture("kept_grads", steps=40, keep=True))
    plan, _, rest = text.partition("\nruntime of GPU_0_bfc\n")
    runtime, _, diagnosis = rest.partition("\ndiagnosis\n")
    assert "plan of jit_train_step(7) (its last execution never launched)" in plan
    assert "104.0 MiB of it donated" in plan
    assert "f32[8192,1024] x25  forward" in plan
    assert "execution 1, 2, 3, … 17 (17 times 104.0 MiB)" in runtime
    assert "never launched, waited 10.0 s for memory" in runtime
    assert "[measured] bytes in use at the start grow by 104.0 MiB" in diagnosis
    *lines, last = diagnosis.splitlines()
    assert all(line.startswith(("  [measured] ", "  [inferred] ", "      ")) for line in lines)
    assert last.startswith("  to confirm a saving: ")


def test_the_documentation_shows_what_is_printed(capture, capsys):
    text = output(capsys, capture("kept_grads", steps=40, keep=True), "--top", 3).splitlines()
    page = (ROOT / "docs" / "oom.md").read_text()
    shown = page.partition("```text\n")[2].partition("```")[0].splitlines()
    assert len(shown) > 30
    assert [line for line in shown if line not in text and "scenarios.py" not in line] == []


def test_top_limits_what_is_listed(capture, capsys):
    path = capture("fits")
    longer, shorter = (output(capsys, path, "--top", top) for top in (9, 2))
    assert len(shorter.splitlines()) < len(longer.splitlines())
    assert "more (--top)" in shorter
    nothing = output(capsys, path, "--top", 0)
    assert "f32[" not in nothing and "#" not in nothing


def test_json_holds_the_numbers(capture, capsys):
    [found] = json.loads(output(capsys, capture("nodonate"), "--json"))
    assert found["plan"]["parameters"] == 2_014_314_496
    assert found["plan"]["donated"] == 0
    assert found["runtime"]["pools"][0]["capacity"] == 2850 * MIB
    assert found["runtime"]["executions"][-1]["never_launched"]
    claim = next(c for c in found["diagnosis"] if c["slug"] == "no-donation")
    assert claim["rules"] == ["JAX301"] and claim["basis"] == "inferred"
    assert claim["remedies"][0]["saving"] == 1920 * MIB and claim["remedies"][0]["enough"]


def test_json_may_stand_before_the_capture_or_name_a_file(capture, capsys, tmp_path):
    path = capture("fits")
    before = output(capsys, "--json", path)
    assert output(capsys, path, "--json", tmp_path / "report.json") == ""
    assert (tmp_path / "report.json").read_text() == before


def test_a_capture_is_never_overwritten(capture, capsys):
    path = capture("fits")
    content = path.read_bytes()
    output(capsys, path, "--json", path, status=2)
    output(capsys, path, "--html", path, status=2)
    assert path.read_bytes() == content


def test_memory_prof_names_the_lines_of_what_lives_on(capsys):
    text = output(capsys, fixture("plain"), "--memory-prof", FIXTURES / "plain.memory.prof")
    source = (FIXTURES / "train.py").read_text().splitlines()
    line = next(line for line in text.splitlines() if "9 x buffer" in line)
    number = int(re.search(r"train\.py:(\d+)", line)[1])
    assert "jitted(state, x)" in source[number - 1]
    assert "[measured] memory.prof: 1.6 MiB of arrays were alive" in text


STEP = """import jax
import jax.numpy as jnp
import optax

optimizer = optax.adam(1e-3)


def loss(params, x):
    return jnp.mean((x @ params["w"]) ** 2)


@jax.jit
def train_step(params, opt_state, x):
    gradients = jax.grad(loss)(params, x)
    updates, opt_state = optimizer.update(gradients, opt_state)
    return optax.apply_updates(params, updates), opt_state


def main():
    params = {"w": jnp.zeros((4096, 4096))}
    opt_state = optimizer.init(params)
    for x in range(100):
        params, opt_state = train_step(params, opt_state, jnp.ones((8, 4096)))


main()
"""


def test_source_adds_the_finding_and_its_fix(capture, capsys, tmp_path):
    source = tmp_path / "project" / "train.py"
    source.parent.mkdir()
    source.write_text(STEP)
    [found] = json.loads(output(capsys, capture("nodonate"), "--source", source, "--json"))
    [finding] = next(c for c in found["diagnosis"] if c["slug"] == "no-donation")["findings"]
    assert finding["code"] == "JAX301" and Path(finding["path"]).name == "train.py"
    assert "train_step" in finding["message"]
    assert "donate_arg" in finding["change"]
    text = output(capsys, capture("nodonate"), "--source", source)
    assert f"{finding['line']}:{finding['column']}: JAX301" in text and "+@" in text


def test_source_is_joined_by_line(capsys, tmp_path):
    """The softmax of the program in the capture, found at its line in a copy that lies elsewhere."""
    shutil.copy(FIXTURES / "train.py", tmp_path / "train.py")
    [found] = json.loads(output(capsys, fixture("plain"), "--source", tmp_path, "--json"))
    [finding] = next(c for c in found["diagnosis"] if c["slug"] == "attention-scores")["findings"]
    source = (FIXTURES / "train.py").read_text().splitlines()
    assert finding["code"] == "JAX313" and "softmax" in source[finding["line"] - 1]


def test_a_source_about_something_else_adds_nothing(capture, capsys, tmp_path):
    (tmp_path / "other.py").write_text(STEP.replace("train_step", "other_step"))
    [found] = json.loads(output(capsys, capture("nodonate"), "--source", tmp_path / "other.py", "--json"))
    assert not any(claim["findings"] for claim in found["diagnosis"])


def test_the_self_test_passes_and_can_fail(capsys, monkeypatch):
    assert "passed" in output(capsys, "--self-test")
    monkeypatch.setattr(self_test, "_CAPACITY", self_test._CAPACITY + 1)
    assert main(["oom", "--self-test"]) == 0  # the capacity is read, whatever it is
    monkeypatch.setattr(self_test, "_STEPS", 1)
    assert main(["oom", "--self-test"]) == 2  # two executions are no growth
    assert "self-test: diagnosis" in capsys.readouterr().err


def test_a_call_without_a_capture_is_one_line(capsys):
    assert main(["oom"]) == 2
    assert capsys.readouterr().err == "jaxlint: name a capture: jaxlint oom CAPTURE\n"


# ---------------------------------------------------------------- the page


def test_a_page_has_the_diagnosis_and_both_pictures(capture, capsys, tmp_path):
    page = tmp_path / "report.html"
    output(capsys, capture("attention"), "--html", page)
    text = page.read_text()
    assert text.count("<svg") == 2
    assert "the step itself does not fit" in text
    assert text.count('class="tile forward"') > 10
    assert not re.search(r"<script|https?://|<link|<img|@import|url\(", text)


def test_names_in_a_page_are_text(capsys, tmp_path):
    """A capture may hold anything where names should be."""
    machine = simulated.Machine(NEW)
    machine.recording = True
    with machine.span("<script>alert(1)</script>"):
        machine.allocate(MIB)
    path = simulated.write(tmp_path / "host.xplane.pb", simulated.capture(machine, simulated.Step("fits")))
    output(capsys, path, "--html", tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<script>" not in text and "&lt;script&gt;" in text


def test_chromium_shows_the_page(capture, capsys, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium here")
    page = tmp_path / "report.html"
    output(capsys, capture("kept_grads", steps=40, keep=True), "--html", page)
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    shown = subprocess.run(
        [browser, *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120
    ).stdout
    assert shown.count('class="failed"') == 1  # the one execution that never launched
    assert shown.count('class="tile forward"') == 25
    assert "bytes in use at the start grow by 104.0 MiB" in shown


def test_a_treemap_fills_its_area_in_proportion():
    sizes = [50, 20, 10, 10, 5, 3, 1, 1]
    area = Rectangle(0, 0, 960, 420)
    places = treemap.layout(sizes, area)
    scale = area.width * area.height / sum(sizes)
    for size, place in zip(sizes, places, strict=True):
        assert place.width * place.height == pytest.approx(size * scale)
        assert place.x >= -1e-6 and place.x + place.width <= area.width + 1e-6
        assert place.y >= -1e-6 and place.y + place.height <= area.height + 1e-6
    for index, one in enumerate(places):
        for other in places[index + 1 :]:
            wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
            high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
            assert min(wide, high) < 1e-6
