"""Versions, specifiers, markers and single requirements."""

from __future__ import annotations

import pytest

from jaxlint.dependencies import marker, poetry
from jaxlint.dependencies.requirement import parse
from jaxlint.dependencies.version import all_below, allows, clauses, exact, lower_bound


@pytest.mark.parametrize(
    ("specifier", "inside", "outside"),
    [
        (">=0.4.20,<0.5", ["0.4.20", "0.4.38", "0.4.20.post1"], ["0.4.19", "0.5.0", "0.5"]),
        ("==0.4.*", ["0.4", "0.4.38"], ["0.5", "0.40.1"]),
        ("!=0.4.32", ["0.4.31"], ["0.4.32"]),
        ("~=0.4.30", ["0.4.30", "0.4.38"], ["0.4.29", "0.5.0"]),
        ("==0.4.20", ["0.4.20", "0.4.20+cuda12.cudnn89"], ["0.4.2", "0.4.20.1"]),
        (">9.0", ["9.1", "10"], ["9.0", "9"]),
        ("", ["1"], []),
    ],
)
def test_what_a_specifier_allows(specifier: str, inside: list[str], outside: list[str]) -> None:
    given = clauses(specifier)
    assert [version for version in inside + outside if allows(given, version)] == inside


def test_versions_before_the_final_one() -> None:
    assert not allows(clauses(">=0.5.0"), "0.5.0rc1")
    assert allows(clauses(">=0.5.0"), "0.5.0.post2")


@pytest.mark.parametrize(
    ("specifier", "below"),
    [
        ("==9.1.0.70", True),
        ("<9.8", True),
        ("<=9.8", False),
        ("==9.1.*", True),
        ("==9.*", False),
        ("~=9.1.0", True),
        ("~=9.1", False),
        (">=9.1", False),
        (">=9.1,<9.5", True),
        ("", False),
    ],
)
def test_what_ends_below_a_floor(specifier: str, below: bool) -> None:
    assert all_below(clauses(specifier), "9.8") is below


def test_pins_and_bounds() -> None:
    assert exact(clauses("==0.4.20")) == "0.4.20"
    assert exact(clauses("==0.4.*")) == exact(clauses(">=0.4")) == ""
    assert lower_bound(clauses("<10.0,>=9.8")) == "9.8"
    assert lower_bound(clauses("<10.0")) == ""


@pytest.mark.parametrize(
    ("text", "extras", "held"),
    [
        ("", (), True),
        ("sys_platform == 'linux'", (), True),
        ("sys_platform == 'darwin'", (), False),
        ("'linux' in sys_platform", (), True),
        ("platform_machine == 'aarch64' and python_version < '3.12'", (), False),
        ("python_version < '3.12'", (), None),
        ("python_version < '3.12' or sys_platform != 'win32'", (), True),
        ("(python_version < '3.9' or os_name == 'nt') and sys_platform == 'linux'", (), None),
        ('extra == "cuda12_pip"', ("cuda12-pip",), True),
        ('extra == "cuda12"', (), False),
        ("'gpu' in extras", (), False),
        ("sys_platform == ", (), None),
        ("(((", (), None),
    ],
)
def test_markers(text: str, extras: tuple[str, ...], held: bool | None) -> None:
    assert marker.holds(text, extras) is held


def test_requirements() -> None:
    plain = parse('JAX[cuda12, "x"] >= 0.6 ; sys_platform == "linux"'.replace('"x"', "tpu"))
    assert plain is not None
    assert (plain.name, plain.extras) == ("jax", {"cuda12", "tpu"})
    assert (plain.clauses, plain.marker) == (((">=", "0.6"),), 'sys_platform == "linux"')
    direct = parse("torch @ https://example.org/whl/cpu/torch.whl ; python_version > '3'")
    assert direct is not None
    assert (direct.name, direct.url) == ("torch", "https://example.org/whl/cpu/torch.whl")
    wheel = parse("https://example.org/whl/cpu/torch-2.5.1%2Bcpu-cp311-cp311-linux_x86_64.whl")
    assert wheel is not None
    assert (wheel.name, wheel.clauses) == ("torch", (("==", "2.5.1+cpu"),))
    assert parse("./local/package") is None
    assert parse("") is None


@pytest.mark.parametrize(
    ("specifier", "inside", "outside"),
    [
        ("^0.4.20", ["0.4.20", "0.4.38"], ["0.5.0", "0.4.19"]),
        ("^2.1", ["2.1", "2.12.0"], ["3.0", "2.0.9"]),
        ("^0.0.3", ["0.0.3"], ["0.0.4"]),
        ("~2.12", ["2.12.0", "2.12.9"], ["2.13"]),
        ("~2", ["2.9"], ["3"]),
        ("2.1.0", ["2.1.0"], ["2.1.1"]),
        ("0.4.*", ["0.4.9"], ["0.5"]),
        (">=0.4, <0.6", ["0.5"], ["0.6"]),
        ("*", ["1"], []),
    ],
)
def test_what_poetry_allows(specifier: str, inside: list[str], outside: list[str]) -> None:
    given = poetry.pep440(specifier)
    assert [version for version in inside + outside if allows(given, version)] == inside
