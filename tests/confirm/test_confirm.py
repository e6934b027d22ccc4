"""`--confirm` on whole programs: what is claimed is run, and the verdict says what was seen."""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import Any

import pytest
from checked_programs import Check, verdicts

from jaxlint.cli import main

BRANCH = """
import jax
import jax.numpy as jnp


@jax.jit
def sign(x):
    if x.sum() > 0:
        return x
    return -x


sign(jnp.zeros(3))
"""

RETRACE = """
import jax
import jax.numpy as jnp


def loss(w, x):
    return jnp.sum((x @ w) ** 2)


def fit(steps, scale):
    w, x = jnp.ones(3), jnp.ones((4, 3))
    for step in range(steps):
        step_grad = jax.jit(lambda w, x: scale * loss(w, x))
        w = w - 0.1 * step_grad(w, x)
    return w


fit({steps}, 2.0)
"""

SCAN = """
import jax
import jax.numpy as jnp


@jax.jit
def relax(x):
    def step(x, _):
        x = jnp.tanh(0.9 * x)
        return x, x

    _, states = jax.lax.scan(step, x, None, length=50)
    return states[-1]


print(relax(jnp.linspace(0.0, 1.0, {size}))[:3])
"""


def test_a_trace_fault_is_confirmed_by_the_exception_at_its_line(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": BRANCH}), "JAX205")
    assert verdict["verdict"] == "confirmed"
    assert "line 8 raises TracerBoolConversionError" in verdict["reason"]


def test_what_a_program_catches_is_seen_too(confirm: Check) -> None:
    caught = BRANCH.replace("sign(jnp.zeros(3))", "try:\n    sign(jnp.zeros(3))\nexcept Exception:\n    pass")
    [verdict] = verdicts(confirm({"program.py": caught}), "JAX205")
    assert verdict["verdict"] == "confirmed"


def test_a_line_that_does_not_run_is_unknown_and_says_so(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": BRANCH.replace("sign(jnp.zeros(3))", "")}), "JAX205")
    assert (verdict["verdict"], verdict["reason"]) == ("unknown", "line 8 did not run in this program")


def test_a_retrace_is_confirmed_by_compilations_and_its_figures_are_in_the_arm(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": RETRACE.format(steps=4)}), "JAX103")
    assert verdict["verdict"] == "confirmed"
    assert "compiled 4 times" in verdict["reason"]
    assert verdict["arms"][0]["compiles"] == 4
    assert verdict["arms"][0]["seconds"] > 0


def test_a_retrace_that_one_call_cannot_show_is_unknown(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": RETRACE.format(steps=1)}), "JAX103")
    assert verdict["verdict"] == "unknown"
    assert "once only" in verdict["reason"]


def test_memory_is_confirmed_beside_the_fix_and_results_are_compared(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": SCAN.format(size=100_000)}, "--target", "cpu"), "JAX303")
    written, fixed = verdict["arms"]
    assert (verdict["verdict"], verdict["target"], verdict["results_equal"]) == ("confirmed", "cpu", True)
    assert (written["name"], fixed["name"]) == ("as written", "as fixed")
    assert written["temp_bytes"] >= 50 * 400_000
    assert fixed["temp_bytes"] <= 2 * 400_000
    total = sum(written[f"{part}_bytes"] for part in ("argument", "output", "temp")) - written["alias_bytes"]
    assert written["total_bytes"] == total
    assert written["own_bytes"] == written["temp_bytes"] + written["output_bytes"]
    assert "results equal (max rel" in verdict["reason"]
    assert any("f32[50,100000]" in buffer and "program.py:12" in buffer for buffer in written["peak"])


def test_a_saving_too_small_to_count_is_refuted_and_the_finding_drops_to_a_note(confirm: Check) -> None:
    findings = confirm({"program.py": SCAN.format(size=10)})
    [finding] = [finding for finding in findings if finding["code"] == "JAX303"]
    assert finding["severity"] == "info"
    assert finding["confirm"][0]["verdict"] == "refuted"
    assert "what counts is 1.00 MiB and 5%" in finding["confirm"][0]["reason"]


def test_thresholds_are_settings(confirm: Check) -> None:
    settings = "[confirm]\nmin-bytes = 64\n"
    findings = confirm({"program.py": SCAN.format(size=10), "jaxlint.toml": settings})
    assert [verdict["verdict"] for verdict in verdicts(findings, "JAX303")] == ["confirmed"]


def test_use_after_donation_is_confirmed_by_the_deleted_array(confirm: Check) -> None:
    program = """
    import functools

    import jax
    import jax.numpy as jnp


    @functools.partial(jax.jit, donate_argnums=0)
    def step(state):
        return state + 1


    state = jnp.zeros(4)
    new = step(state)
    print(state.sum())
    """
    [verdict] = verdicts(confirm({"program.py": program}), "JAX302")
    assert verdict["verdict"] == "confirmed"
    assert "deleted" in verdict["reason"]


def test_what_is_kept_is_confirmed_by_what_grows(confirm: Check) -> None:
    program = """
    import jax
    import jax.numpy as jnp


    @jax.jit
    def step(params):
        return params * 0.9, jnp.ones((64, 64)) * params.sum()


    def train(steps):
        params, history = jnp.ones(4), []
        for _ in range(steps):
            params, activations = step(params)
            history.append(activations)
        return params, history


    train(40)
    """
    [verdict] = verdicts(confirm({"program.py": program}), "JAX308")
    assert verdict["verdict"] == "confirmed"
    assert "16.0 KiB each time" in verdict["reason"]


def test_what_an_import_does_is_seen_in_a_process_of_its_own(confirm: Check) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/precision.py": 'import jax\n\njax.config.update("jax_enable_x64", True)\n',
        "pkg/tables.py": "import jax.numpy as jnp\n\nTABLE = jnp.arange(4)\n",
    }
    findings = confirm(files)
    [x64] = verdicts(findings, "JAX501")
    [work] = verdicts(findings, "JAX504")
    assert (x64["verdict"], work["verdict"]) == ("confirmed", "confirmed")
    assert "`jax_enable_x64` from False to True" in x64["reason"]
    assert "starts jax's backend" in work["reason"]


HOSTILE = {
    "exits": ("import sys\nsys.exit(3)\n", "unknown"),
    "ends": ("import os\nos._exit(5)\n", "unknown"),
    "raises": ("import sys\nif sys.argv:\n    raise ValueError('no')\n", "unknown"),
    "hangs": ("import sys\nwhile sys.argv:\n    pass\n", "unknown"),
    "crashes": ("import ctypes\nctypes.string_at(0)\n", "unknown"),
    "eats": ("import numpy\nheld = numpy.ones(50 << 27)\n", "unknown"),
    "forks": (
        "import os, sys\nif os.fork() == 0:\n    os.setsid()\n"
        "    os.execv(sys.executable, [sys.executable, '-c', 'import time; time.sleep(1000)', 'MARK'])\n",
        "confirmed",
    ),
    "prints": ("import os\nprint('{}')\nos.write(1, b'{}')\nos.write(2, b'x')\n", "confirmed"),
    "moves": ("import os\nos.chdir('/')\n", "confirmed"),
    "threads": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n",
        "confirmed",
    ),
}


def test_hostile_programs_cost_their_own_findings_alone_and_leave_nothing_running(confirm: Check) -> None:
    mark = f"left-by-{os.getpid()}-{time.monotonic_ns()}"
    files = {f"{number:02}_good.py": BRANCH for number in range(10)}
    for number, (name, (text, _)) in enumerate(HOSTILE.items()):
        files[f"{number:02}_{name}.py"] = text.replace("MARK", mark) + BRANCH
    files["jaxlint.toml"] = "[confirm]\nmemory-limit = 2\n"
    found = {f["path"]: f["confirm"][0] for f in confirm(files, "--timeout", "25") if f["code"] == "JAX205"}
    good = [verdict["verdict"] for path, verdict in found.items() if path.endswith("_good.py")]
    assert good == ["confirmed"] * 10
    outcomes = {path[3:-3]: verdict["verdict"] for path, verdict in found.items() if "_good" not in path}
    assert outcomes == {name: outcome for name, (_, outcome) in HOSTILE.items()}
    assert all(verdict["reason"] for verdict in found.values())
    assert all(verdict["reason"].count("--timeout") <= 1 for verdict in found.values())
    listed = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert mark not in listed


def test_options_without_confirm_and_interpreters_without_jax_are_one_line(
    confirm: Check, tmp_path: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").write_text(BRANCH)
    assert main(["check", "--target", "cpu", str(tmp_path)]) == 2
    assert "--target" in capsys.readouterr().err
    assert main(["check", "--no-cache", "--confirm", "--python", "/nowhere/python", str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "there is no such program" in line
    assert main(["check", "--no-cache", "--confirm", "--python", "true", str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.endswith("true gave no answer and ended with status 0, is it a Python?")
    bare = tmp_path / "bare"
    subprocess.run(["python3", "-m", "venv", "--without-pip", str(bare)], check=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(bare))
    assert main(["check", "--no-cache", "--confirm", str(tmp_path / "program.py")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "has no jax" in line
    assert "pip install jax" in line


def test_an_unknown_target_is_one_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "program.py").write_text(BRANCH)
    assert main(["check", "--no-cache", "--confirm", "--target", "cuda:h1000", str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "cuda:h100" in line


def test_an_effect_that_also_happens_eagerly_is_confirmed_by_the_calls_of_the_boundary(
    confirm: Check,
) -> None:
    source = (
        "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n\ndef noise(shape):\n"
        "    return np.random.normal(size=shape)\n\n\n@jax.jit\ndef step(x):\n    return x + noise(x.shape)\n\n\n"
        "x = jnp.asarray(noise((3,)), jnp.float32)\nfor i in range(4):\n    x = step(x)\n"
    )
    assert verdicts(confirm({"program.py": source}), "JAX203")[0]["verdict"] == "confirmed"


def test_a_call_between_a_change_and_the_next_trace_is_stale(confirm: Check) -> None:
    source = (
        "import jax\nimport jax.numpy as jnp\n\nSCALE = 1.0\n\n\n@jax.jit\ndef step(x):\n    return x * SCALE\n\n\n"
        "def main():\n    global SCALE\n    for i in range(3):\n        SCALE = 1.0 + i\n"
        "        print(step(jnp.ones(5 if i == 2 else 3)))\n\n\nmain()\n"
    )
    assert verdicts(confirm({"program.py": source}), "JAX201")[0]["verdict"] == "confirmed"


def test_rows_that_are_cut_back_hold_nothing(confirm: Check) -> None:
    """What Python keeps beside the arrays, and the watching itself, are no arrays on the device."""
    program = """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(w, x):
            return w - 0.1 * x, jnp.mean((w - x) ** 2)

        class Log:
            def __init__(self):
                self.rows = []
            def log(self, loss):
                self.rows.append(loss)
            def trim(self):
                self.rows = self.rows[-3:]

        def main():
            w, log = jnp.zeros((8, 8)), Log()
            for i in range(40):
                w, loss = step(w, jnp.ones((8, 8)))
                log.log(loss)
                log.trim()
            print(float(log.rows[-1]))

        main()
    """
    assert {verdict["verdict"] for verdict in verdicts(confirm({"program.py": program}), "JAX308")} == {
        "refuted"
    }


CACHE = """
import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.lru_cache(maxsize=None)
def load(name):
    return np.ones({shape})


@jax.jit
def use(x):
    return x.sum()


def main():
    for i in range(60):
        print(use(jnp.asarray(load(f"shard-{{i % {keys}}}"))))


main()
"""


def held(verdict: dict[str, Any]) -> float:
    """The bytes of host memory each time that a verdict on a cache names."""
    found = re.search(r"([\d.]+) (bytes|KiB) each time", verdict["reason"])
    assert found is not None, verdict
    return float(found[1]) * (1024 if found[2] == "KiB" else 1)


def test_what_watching_keeps_is_no_growth_of_the_program(confirm: Check) -> None:
    [verdict] = verdicts(confirm({"program.py": CACHE.format(shape="(64, 8)", keys=2)}), "JAX402")
    assert verdict["verdict"] != "confirmed"
    assert "KiB" not in verdict["reason"]


@pytest.mark.parametrize("rows", [32, 512])
def test_growth_of_host_memory_is_what_the_program_keeps(confirm: Check, rows: int) -> None:
    [verdict] = verdicts(confirm({"program.py": CACHE.format(shape=f"({rows}, 8)", keys=60)}), "JAX402")
    assert verdict["verdict"] == "confirmed"
    assert rows * 64 < held(verdict) < rows * 64 + 1536  # jax keeps some beside it


def test_growth_that_stops_is_not_growth_each_time(confirm: Check) -> None:
    program = """
        import jax.numpy as jnp

        store = {}

        def load(i):
            if i not in store:
                store[i] = jnp.ones((256, 1024)) * i
            return store[i]

        def run():
            t = 0.0
            for i in range(30):
                t += float(load(i % {keys}).sum())
            return t

        run()
    """
    for keys, outcome in ((3, "unknown"), (30, "confirmed")):
        source = program.replace("{keys}", str(keys))
        [verdict] = verdicts(confirm({"program.py": source}), "JAX403")
        assert verdict["verdict"] == outcome, verdict["reason"]


@pytest.mark.parametrize(("width", "outcome"), [(1, "unknown"), (1024, "confirmed")])
def test_a_few_bytes_a_round_are_no_growth_to_speak_of(confirm: Check, width: int, outcome: str) -> None:
    program = """
        import jax
        import jax.numpy as jnp

        @jax.jit
        def step(w):
            return w * 0.9, w[:{width}] * 2

        def train():
            w, kept = jnp.zeros(4096), []
            for i in range(20):
                w, loss = step(w)
                kept.append(loss)
            return w, kept

        hist = []

        def pile():
            for i in range(20):
                hist.append(jnp.ones((256, 256)))

        train()
        pile()
    """.replace("{width}", str(width))
    found = [one for one in confirm({"program.py": program}) if one["code"] == "JAX308"]
    [verdict] = [one["confirm"][0] for one in found if "`loss`" in one["message"]]
    assert verdict["verdict"] == outcome, verdict["reason"]


EAGER_STACK = """
import jax
import jax.numpy as jnp


def total(xs):
    return jax.lax.scan(lambda c, x: (c + x, {stacked}), {first}, xs)[0]


print(total(jnp.ones({size})).sum())
"""


@pytest.mark.parametrize(
    ("stacked", "first", "size", "outcome"),
    [
        ("c", "0.0", 4, "refuted"),
        ("c", "0.0", 1_000_000, "confirmed"),
        # What is used of the result is large, the stack is not.
        ("c[0]", "jnp.ones(1_000_000)", 4, "refuted"),
    ],
)
def test_an_eager_stack_counts_by_its_own_size(
    confirm: Check, stacked: str, first: str, size: int, outcome: str
) -> None:
    program = EAGER_STACK.format(stacked=stacked, first=first, size=size)
    [verdict] = verdicts(confirm({"program.py": program}), "JAX303")
    assert verdict["verdict"] == outcome, verdict["reason"]


DONATION = """
import jax
import jax.numpy as jnp


@jax.jit
def step(w, x):
    return w * 0.9 + x


def train():
    w = jnp.zeros((1024, 1024))
    kept = []
    for i in range(3):
        w = step(w, jnp.ones((1024, 1024)))
        if i % 2 == {which}:
            kept.append(w)
    return sum(one.sum() for one in kept) + w.sum()


print(train())
"""


@pytest.mark.parametrize(("which", "outcome"), [(0, "refuted"), (2, "confirmed")])
def test_a_donation_is_tried_where_no_fix_is_sure(confirm: Check, which: int, outcome: str) -> None:
    [verdict] = verdicts(confirm({"program.py": DONATION.format(which=which)}), "JAX301")
    assert verdict["verdict"] == outcome, verdict["reason"]
    said = "donated the program fails" if outcome == "refuted" else "the program ends as before"
    assert said in verdict["reason"]
