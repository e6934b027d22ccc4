"""Targets: what they are called, what they need, and what is said where it is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jaxlint.cli import main
from jaxlint.confirm.availability import availability
from jaxlint.confirm.chips import chips
from jaxlint.confirm.targets import UnknownTarget, every_target, parse, resolve

MIB = 1 << 20
COMPLETE = {
    "jax": "0.10.2",
    "jaxlib": "0.10.2",
    "jax-cuda12-plugin": "0.10.2",
    "jax-cuda12-pjrt": "0.10.2",
    "jax-cuda13-plugin": None,
    "jax-cuda13-pjrt": None,
    "nvidia-cuda-nvcc-cu12": "12.9.86",
    "nvidia-cuda-nvcc": None,
    "nvidia-nvvm": None,
    "nvidia-cudnn-cu12": None,
    "libtpu": "0.0.42",
}


def installed(
    toolkit: str = "", system: str = "linux", gpus: int = 0, **versions: str | None
) -> dict[str, Any]:
    changed = {name.replace("_", "-"): version for name, version in versions.items()}
    assert set(changed) <= set(COMPLETE)
    return {
        "executable": "/env/bin/python",
        "system": system,
        "machine": "x86_64",
        "toolkit": toolkit,
        "gpus": gpus,
        "packages": {**COMPLETE, **changed},
    }


def test_several_targets_are_each_taken_once_in_the_order_given() -> None:
    names = [target.name for target in parse(["cuda:h100,CPU", " tpu:v5e , cuda:H100"])]
    assert names == ["cuda:h100", "cpu", "tpu:v5e"]
    assert [target.name for target in parse([])] == ["auto"]


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("cuda:a100", "did you mean cuda:a100-40 or cuda:a100-80?"),
        ("a6000", "did you mean cuda:a6000?"),
        ("cuda:rtx4080", "did you mean cuda:rtx4090?"),
        ("tpu:v5", "did you mean tpu:v5e or tpu:v5p?"),
        ("cuda:", "cuda:CHIP is one of t4, "),
        ("tpu:v99", "tpu:CHIP is one of v2, "),
        ("metal", "`jaxlint targets` lists them"),
        ("cuda:nowhere.txtpb", "nowhere.txtpb: cannot read: No such file or directory"),
    ],
)
def test_a_target_that_does_not_exist_is_answered_with_one_that_does(written: str, answer: str) -> None:
    with pytest.raises(UnknownTarget) as caught:
        resolve(written)
    assert answer in str(caught.value)
    assert "\n" not in str(caught.value)


def test_each_chip_says_where_its_facts_are_from_and_what_it_holds() -> None:
    for target in every_target():
        if target.chip is not None:
            assert target.chip.source, target.name
            assert 4 << 30 < target.chip.memory < 1 << 40, target.name
    assert {
        "t4",
        "v100",
        "a100-40",
        "a100-80",
        "a6000",
        "l4",
        "l40s",
        "a10",
        "rtx4090",
        "h100",
        "h200",
        "b200",
    } == set(chips()["cuda"])
    assert {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"} == set(chips()["tpu"])


def test_a_described_gpu_can_be_used_again_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.txtpb"
    file.write_text(resolve("cuda:l4").description["config"])
    target = resolve(f"cuda:{file}")
    assert target.capacity == 23034 * MIB
    assert target.description == resolve("cuda:l4").description
    file.write_text("nothing of the kind")
    with pytest.raises(UnknownTarget, match="no target_config"):
        resolve(f"cuda:{file}")


@pytest.mark.parametrize(
    ("target", "found", "said"),
    [
        ("cpu", installed(), "jax 0.10.2"),
        ("cuda:h100", installed(), "nvidia-cuda-nvcc-cu12 12.9.86"),
        (
            "cuda:h100",
            installed("/usr/bin/ptxas", nvidia_cuda_nvcc_cu12=None),
            "/usr/bin/ptxas of this machine",
        ),
        ("tpu:v5e", installed(), "libtpu 0.0.42"),
        ("gpu", installed(gpus=2), "2 GPU(s)"),
    ],
)
def test_what_serves_is_said(target: str, found: dict[str, Any], said: str) -> None:
    state = availability(resolve(target), found)
    assert state.ready, state
    assert said in state.reason
    assert not state.install


@pytest.mark.parametrize(
    ("target", "found", "reason", "install"),
    [
        ("cpu", installed(jax=None), "jax is not installed", "jax"),
        ("cpu", installed(jax="0.4.20"), "jax 0.4.20 is too old: 0.4.35", ""),
        ("gpu", installed(), "no NVIDIA GPU", ""),
        ("gpu", installed(gpus=1, jax_cuda12_plugin=None), "CUDA plugin", "'jax[cuda12]==0.10.2'"),
        ("cuda:h100", installed(jax="0.5.3"), "0.6.2 or newer", ""),
        ("cuda:h100", installed(jax="0.8.2"), "0.9.2 can", ""),
        ("cuda:h100", installed(system="darwin"), "Linux only", ""),
        ("cuda:h100", installed(jax_cuda12_pjrt="0.9.2"), "its client 0.9.2", "'jax[cuda12-local]==0.10.2'"),
        (
            "cuda:h100",
            installed("/usr/bin/ptxas", jax_cuda12_plugin=None, nvidia_cuda_nvcc_cu12=None),
            "the CUDA compiler of jax 0.10.2 is not installed",
            "'jax[cuda12-local]==0.10.2' nvidia-cuda-nvcc-cu12",
        ),
        (
            "cuda:h100",
            installed(nvidia_cuda_nvcc_cu12=None),
            "nvidia-cuda-nvcc-cu12 is not",
            "nvidia-cuda-nvcc-cu12",
        ),
        (
            "cuda:h100",
            installed(jax_cuda13_plugin="0.10.2", jax_cuda13_pjrt="0.10.2"),
            "nvidia-cuda-nvcc and nvidia-nvvm is not installed",
            "nvidia-cuda-nvcc nvidia-nvvm",
        ),
        ("tpu:v5e", installed(libtpu=None), "libtpu is not installed", "'jax[tpu]==0.10.2'"),
        ("tpu:v5e", installed(system="darwin"), "Linux on x86-64 only", ""),
    ],
)
def test_what_is_missing_is_said_with_the_command_that_installs_it(
    target: str, found: dict[str, Any], reason: str, install: str
) -> None:
    state = availability(resolve(target), found)
    assert not state.ready
    assert reason in state.reason
    assert state.install == (f"/env/bin/python -m pip install {install}" if install else "")


def test_the_command_lists_every_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets"]) == 0
    text = capsys.readouterr().out
    assert main(["targets", "--output-format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [item["target"] for item in listed] == [target.name for target in every_target()]
    assert all(item["target"] in text for item in listed)
    by_name = {item["target"]: item for item in listed}
    assert by_name["cpu"]["ready"]
    assert by_name["cuda:a6000"]["memory_bytes"] == 51041271808


def test_without_a_gpu_there_is_nothing_to_dump(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if availability(resolve("gpu"), installed(gpus=len(list(Path("/dev").glob("nvidia[0-9]*"))))).ready:
        pytest.skip("this machine has a GPU")
    assert main(["targets", "--dump"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("jaxlint: jax finds no GPU here")
    assert captured.err.count("\n") == 1


def test_an_interpreter_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--python", "/no/such/python"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
