"""`jaxlint preflight`: each point passes, fails or is left open for a reason that is there."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from jaxlint import registry
from jaxlint.cli import main
from jaxlint.preflight import configuration, environment, guards, keeping, retracing

CASES = Path(__file__).parents[2] / "fixtures" / "casebook" / "cases"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XLA_PYTHON_CLIENT_PREALLOCATE", "XLA_PYTHON_CLIENT_MEM_FRACTION", "JAX_ENABLE_X64"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "jaxlint.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


def points(capsys: Captured, *paths: str) -> dict[str, dict[str, Any]]:
    main(["preflight", "--output-format", "json", *paths])
    return {point["point"]: point for point in json.loads(capsys.readouterr().out)}


def statuses(capsys: Captured, *paths: str) -> dict[str, str]:
    return {key: point["status"] for key, point in points(capsys, *paths).items()}


def texts(point: dict[str, Any]) -> str:
    return "\n".join(evidence["text"] for evidence in point["evidence"])


READY = {
    "track/step.py": """
        import os
        from functools import lru_cache

        import equinox as eqx
        import jax
        import jax.numpy as jnp

        N_MAX = 16


        def detect(scores):
            values, order = jax.lax.top_k(scores, N_MAX)
            return order, values > 0.5


        def guarded(function):
            if not os.environ.get("TRACK_ASSERT_NO_RETRACE"):
                return function
            return eqx.debug.assert_max_traces(function, max_traces=1)


        step = jax.jit(guarded(detect))


        @lru_cache(maxsize=8)
        def clip(name):
            return open(name, "rb").read()


        def run(frames, sink):
            for frame in frames:
                sink(step(frame))
    """,
    "tests/test_step.py": """
        import pytest
        import jax.numpy as jnp
        from track.step import step, detect


        @pytest.mark.parametrize("n", [3, 5, 9])
        def test_compiles_once(n):
            for frame in range(n):
                step(jnp.zeros(64))
            assert step._cache_size() == 1
    """,
    "run.sh": """
        export XLA_PYTHON_CLIENT_PREALLOCATE=false
        export XLA_PYTHON_CLIENT_MEM_FRACTION=0.65
        python -m track.run
    """,
}


def test_a_project_that_is_ready_fails_no_point(project: Path, capsys: Captured) -> None:
    write(project, READY)

    assert main(["preflight", "track"]) == 0
    found = statuses(capsys_after(capsys), "track")
    assert found["1"] == "pass"
    assert found["3"] == "pass"
    assert found["4"] == "pass"
    assert found["5"] == "pass"
    assert found["6"] == "pass"
    assert found["7"] == "not applicable"
    assert found["8"] == "pass"
    assert found["A"] == "pass"
    assert "fail" not in found.values()


def capsys_after(capsys: Captured) -> Captured:
    capsys.readouterr()
    return capsys


def test_every_pass_has_evidence(project: Path, capsys: Captured) -> None:
    write(project, READY)

    assert [
        key for key, p in points(capsys, "track").items() if p["status"] == "pass" and not p["evidence"]
    ] == []


def test_nothing_of_jax_is_no_pass(project: Path, capsys: Captured) -> None:
    write(project, {"app.py": "print('hello')\n"})

    found = statuses(capsys)
    assert {found[key] for key in "12345"} == {"not applicable"}
    assert found["6"] == "not shown"


# ---------------------------------------------------------------- point by point


def without(name: str) -> dict[str, str]:
    return {key: text for key, text in READY.items() if key != name}


def test_no_test_that_counts_traces_fails_point_1(project: Path, capsys: Captured) -> None:
    write(project, without("tests/test_step.py"))

    point = points(capsys, "track")["1"]
    assert point["status"] == "fail"
    assert "no test asserts how often anything is traced" in texts(point)


def test_a_test_of_something_else_does_not_count(project: Path, capsys: Captured) -> None:
    test = READY["tests/test_step.py"].replace(
        "from track.step import step, detect", "from other import step"
    )
    write(project, {**READY, "tests/test_step.py": test})

    assert statuses(capsys, "track")["1"] == "fail"


def test_a_test_of_one_input_leaves_point_1_open(project: Path, capsys: Captured) -> None:
    test = """
        import jax.numpy as jnp
        from track.step import step


        def test_compiles_once():
            step(jnp.zeros(64))
            assert step._cache_size() == 1
    """
    write(project, {**READY, "tests/test_step.py": test})

    assert statuses(capsys, "track")["1"] == "not shown"


def test_no_guard_in_the_program_fails_point_1(project: Path, capsys: Captured) -> None:
    step = READY["track/step.py"].replace("eqx.debug.assert_max_traces(function, max_traces=1)", "function")
    write(project, {**READY, "track/step.py": step})

    assert statuses(capsys, "track")["1"] == "fail"


@pytest.mark.parametrize(
    ("case", "key"),
    [
        ("016-filter-jit-python-step", "2"),
        ("009-static-horizon-rollout", "2"),
        ("014-video-clips-native-length", "3"),
        ("020-active-pairs-nonzero", "3"),
        ("131-simulation-frames-kept", "4"),
        ("132-lru-cache-on-loader", "5"),
        ("140-package-sets-compilation-cache", "7"),
        ("137-library-enables-x64", "8"),
        ("153-lbfgs-bfloat16-params", "8"),
        ("151-process-pool-fork", "B"),
    ],
)
def test_a_hazard_of_the_casebook_fails_its_point_and_its_remedy_does_not(
    case: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bad", "good"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.py").write_text((CASES / case / f"{name}.py").read_text())

    assert statuses(capsys, "bad")[key] == "fail"
    assert statuses(capsys, "good")[key] != "fail"


def test_bounded_caches_are_named(project: Path, capsys: Captured) -> None:
    write(project, READY)

    point = points(capsys, "track")["5"]
    assert "has a bound; what an entry takes only a run can tell" in texts(point)


def test_arguments_that_cannot_be_followed_are_not_shown(project: Path, capsys: Captured) -> None:
    program = """
        import equinox as eqx


        @eqx.filter_jit
        def step(x, n):
            return x * n


        def run(x, schedule):
            for i in range(9):
                x = step(x, schedule(i))
    """
    write(project, {"run.py": program})

    assert statuses(capsys)["2"] in ("not shown", "fail")


# ---------------------------------------------------------------- the environment


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "export XLA_PYTHON_CLIENT_PREALLOCATE=true\n"),
        ("Dockerfile", "FROM x\nENV XLA_PYTHON_CLIENT_MEM_FRACTION=.98\n"),
        ("compose.yml", "environment:\n  XLA_PYTHON_CLIENT_PREALLOCATE: 'True'\n"),
        (".env", "XLA_PYTHON_CLIENT_PREALLOCATE=FALSE\n"),  # jaxlib takes only false, False and 0
        ("app.py", "import os\nos.environ['XLA_PYTHON_CLIENT_MEM_FRACTION'] = '0.99'\nimport jax\n"),
    ],
)
def test_what_takes_the_whole_gpu_fails_point_6(
    name: str, text: str, project: Path, capsys: Captured
) -> None:
    write(project, {**READY, "run.sh": "", name: text})

    point = points(capsys, ".")["6"]
    assert point["status"] == "fail"
    assert any(
        evidence["place"].startswith(f"{name}:") for evidence in point["evidence"] if evidence["place"]
    )


def test_this_shell_counts(project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, without("run.sh"))
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.5")

    point = points(capsys, "track")["6"]
    assert point["status"] == "pass"
    assert {evidence["place"] for evidence in point["evidence"]} == {"this shell"}


@pytest.mark.parametrize(
    "text",
    [
        "XLA_PYTHON_CLIENT_PREALOCATE=false",
        "XLA_PYTHON_CLIENT_MEM_FRACTION=70%",
        "XLA_PYTHON_CLIENT_ALLOCATOR=none",
    ],
)
def test_a_variable_that_jax_does_not_take_fails(text: str, project: Path, capsys: Captured) -> None:
    write(project, {**READY, "run.sh": f"export {text}\n"})

    assert statuses(capsys, "track")["A"] == "fail"


def test_a_comment_sets_nothing(project: Path, capsys: Captured) -> None:
    write(project, {**READY, "run.sh": "# export XLA_PYTHON_CLIENT_PREALLOCATE=true\n"})

    assert statuses(capsys, "track")["6"] == "not shown"


def test_a_cache_that_keeps_everything_fails(project: Path, capsys: Captured) -> None:
    script = "export JAX_COMPILATION_CACHE_DIR=/c\nexport JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0\n"
    write(project, {**READY, "run.sh": script})

    assert statuses(capsys, "track")["C"] == "fail"


def test_two_cudnn_fail(project: Path, capsys: Captured) -> None:
    write(project, {**READY, "requirements.txt": "jax[cuda12]\nnvidia-cudnn-cu12\nnvidia-cudnn-cu13\n"})

    assert statuses(capsys, ".")["D"] == "fail"


# ---------------------------------------------------------------- the command


def test_markdown_ticks_what_passes(project: Path, capsys: Captured) -> None:
    write(project, READY)

    assert main(["preflight", "--output-format", "markdown", "track"]) == 0
    out = capsys.readouterr().out
    assert "- [x] **1. " in out
    assert "- [ ] **7. " in out


def test_a_suppressed_finding_does_not_fail(project: Path, capsys: Captured) -> None:
    program = (CASES / "016-filter-jit-python-step" / "bad.py").read_text()
    line = "    loss, model = train_step(model, x, y, step)"
    assert line in program
    write(project, {"app.py": program.replace(line, f"{line}  # jaxlint: ignore[JAX101] six steps")})

    assert statuses(capsys)["2"] != "fail"


def test_settings_that_select_rules_do_not_hide_a_point(project: Path, capsys: Captured) -> None:
    (project / "jaxlint.toml").write_text('select = ["JAX5"]\n')
    write(project, {"app.py": (CASES / "016-filter-jit-python-step" / "bad.py").read_text()})

    assert statuses(capsys)["2"] == "fail"


def test_a_module_that_cannot_be_parsed_leaves_point_8_open(project: Path, capsys: Captured) -> None:
    write(project, {**READY, "track/broken.py": "def f(:\n"})

    assert statuses(capsys, "track")["8"] == "not shown"


@pytest.mark.parametrize("key", list("234578B"))
def test_a_module_that_cannot_be_parsed_is_neither_a_pass_nor_out_of_view(
    key: str, project: Path, capsys: Captured
) -> None:
    write(project, {**READY, "track/broken.py": "def f(:\n"})

    point = points(capsys, "track")[key]
    assert point["status"] == "not shown"
    assert any(e["place"] == "track/broken.py" and "cannot be parsed" in e["text"] for e in point["evidence"])


def test_a_test_that_cannot_be_parsed_leaves_point_1_open(project: Path, capsys: Captured) -> None:
    write(project, {**READY, "tests/test_step.py": "def test_f(:\n"})

    assert statuses(capsys, "track")["1"] == "not shown"


def test_a_failure_stays_one_beside_a_module_that_cannot_be_parsed(project: Path, capsys: Captured) -> None:
    loader = (CASES / "132-lru-cache-on-loader" / "bad.py").read_text()
    write(project, {**READY, "track/loader.py": loader, "track/broken.py": "def f(:\n"})

    assert statuses(capsys, "track")["5"] == "fail"


# ---------------------------------------------------------------- caches


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("@lru_cache(maxsize=None)\ndef load(name): return open(name).read()", "fail"),
        ("@cache\ndef tokens(text): return text.split()", "fail"),
        ("class T:\n    @cache\n    def frame(self): return 1", "fail"),
        ("@cache\ndef settings(): return {}", "pass"),
        ("@cache\ndef mode(train: bool): return train", "pass"),
        ("@lru_cache\ndef load(name): return open(name).read()", "pass"),  # 128 of them
        ("@lru_cache(maxsize=None)  # jaxlint: ignore[JAX402] three files\ndef load(name): return 1", "not shown"),
        ("class K:\n    def __init__(self, s): self.w = jax.random.normal(jax.random.key(s), (9, 9))\n"
         "    @lru_cache(maxsize=128)\n    def gram(self, b): return self.w * b\n"
         "def f(seeds):\n    return [float(K(s).gram(1.0).sum()) for s in seeds]", "fail"),
    ],
)  # fmt: skip
def test_a_cache_that_is_told_to_keep_everything_fails_point_5(
    code: str, status: str, project: Path, capsys: Captured
) -> None:
    write(project, {"app.py": f"import jax\nfrom functools import cache, lru_cache\n{code}\n"})

    assert statuses(capsys)["5"] == status


# ---------------------------------------------------------------- how the program is launched


@pytest.mark.parametrize(
    ("name", "text", "key", "status"),
    [
        ("scripts/deep/train.sh", "XLA_PYTHON_CLIENT_MEM_FRACTION=.99 python app.py\n", "6", "fail"),
        ("jobs/train.slurm", "#SBATCH --export=ALL,XLA_PYTHON_CLIENT_PREALLOCATE=true\n", "6", "fail"),
        ("jobs/train.job", "export XLA_PYTHON_CLIENT_PREALLOCATE=true\n", "6", "fail"),
        ("bin/launch", "#!/usr/bin/env bash\nexport XLA_PYTHON_CLIENT_PREALLOCATE=true\n", "6", "fail"),
        ("notes", "export XLA_PYTHON_CLIENT_PREALLOCATE=true\n", "6", "not shown"),  # no script
        ("docker/Dockerfile.gpu", "ENV A=1 \\\n    XLA_PYTHON_CLIENT_MEM_FRACTION=0.97\n", "6", "fail"),
        ("docker/Dockerfile", "ENV XLA_PYTHON_CLIENT_PREALLOCATE true\n", "6", "fail"),
        ("docker/Dockerfile", "ENV JAX_COMPILATION_CACHE_DIR=/cache\n", "C", "pass"),
        ("jobs/a.sbatch", "env JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 srun python a.py\n", "C", "fail"),
        ("run.sh", "export XLA_CLIENT_MEM_FRACTION=.5 XLA_PYTHON_CLIENT_MEM_FRACTION=.5\n", "A", "fail"),
    ],
)
@pytest.mark.parametrize("rooted", [True, False])
def test_scripts_are_read_wherever_they_lie(
    name: str, text: str, key: str, status: str, rooted: bool, project: Path, capsys: Captured
) -> None:
    if not rooted:
        (project / "jaxlint.toml").unlink()
    write(project, {"app.py": "import jax\nstep = jax.jit(abs)\n", name: text})

    assert statuses(capsys, ".")[key] == status


def test_the_allocator_of_tensorflow_is_said_to_be_its_own(project: Path, capsys: Captured) -> None:
    write(project, {"app.py": "import jax\n", "run.sh": "export TF_GPU_ALLOCATOR=cuda_malloc_async\n"})

    point = points(capsys)["A"]
    assert point["status"] == "not applicable"
    assert "jax reads XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async" in texts(point)


def test_what_fails_a_point_stands_first(project: Path, capsys: Captured) -> None:
    good = "".join(f"export XLA_PYTHON_CLIENT_MEM_FRACTION=0.{n}\n" for n in range(1, 9))
    write(
        project, {"app.py": "import jax\n", "a.sh": good, "z.sh": "XLA_PYTHON_CLIENT_MEM_FRACTION=0.99 x\n"}
    )

    assert points(capsys)["6"]["evidence"][0]["place"] == "z.sh:1"


def test_a_missing_path_is_status_2(project: Path, capsys: Captured) -> None:
    assert main(["preflight", "missing"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_rules_behind_the_points_exist() -> None:
    codes = {rule.meta.code for rule in registry.load()}
    behind = (
        guards.CODES, retracing.STATIC_CODES, retracing.SHAPE_CODES, keeping.OUTPUT_CODES, keeping.CACHE_CODES,
        configuration.CACHE_CODES, configuration.PRECISION_CODES, environment.CLIENT_CODES,
        environment.PROCESS_CODES, environment.CUDNN_CODES,
    )  # fmt: skip

    assert {code for group in behind for code in group} <= codes
