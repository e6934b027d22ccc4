"""The pytest plugin: `pytest --jaxlint-record FILE`, and the fixture `no_retrace`.

Imports nothing but pytest until one of the two is asked for. Both rest on the recorder, which has to be there
before the code under test imports jax; so test files are searched for the fixture's name before conftest files
are imported. A run that uses neither is left alone. Each worker of pytest-xdist records for itself, into the one
file.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from jaxlint.recording.watch import NoRetrace

_FIXTURE = b"no_retrace"
_CHILD = "jaxlint_child"  # the recorder's package where it was put in place at the start of the process
_SKIPPED = ("site-packages", "node_modules", "__pycache__", "venv", "build", "dist")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("jaxlint")
    group.addoption(
        "--jaxlint-record", metavar="FILE", help="note what the tests trace and compile (jaxlint record)"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start the recorder if it is wanted, before anything of the user's is imported."""
    path = early_config.known_args_namespace.jaxlint_record
    uses_fixture = _uses_fixture(early_config)
    if path is not None:
        _record(os.path.join(early_config.invocation_params.dir, path))
    elif uses_fixture and not _is_recorded():
        _recording("waiting").for_jax("")
    if uses_fixture:
        from jaxlint.recording.watch import Watched

        Watched.of(_recording("journal").listeners)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say where the record is, and how to read it."""
    path = config.getoption("--jaxlint-record")
    if path is not None:
        terminalreporter.write_line(f"jaxlint: recorded in {path} (jaxlint record --report {path})")


@pytest.fixture
def no_retrace(request: pytest.FixtureRequest) -> Iterator[Callable[[], NoRetrace]]:
    """Call it when the code is warm: from then on what has been traced may not be traced again.

    Until the end of the test, or in a block:

        def test_training_step(no_retrace):
            state = step(state, batches[0])
            with no_retrace():
                for batch in batches[1:]:
                    state = step(state, batch)

    The test fails with the argument that changed. A function that is traced for the first time may be.
    """
    pytest.importorskip("jax")
    from jaxlint.recording.watch import NoRetrace, Watched

    watched = Watched.of(_recording("journal").listeners)
    made: list[NoRetrace] = []

    def warm() -> NoRetrace:
        made.append(NoRetrace(watched))
        return made[-1]

    request.node.stash[_MADE] = made
    yield warm


_MADE = pytest.StashKey[Any]()


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    """A test that is watched until its end fails there, and not when it is taken down."""
    outcome = yield
    if outcome.excinfo is None:
        for watch in pyfuncitem.stash.get(_MADE, []):
            try:
                watch.check()
            except BaseException as failure:
                outcome.force_exception(failure)
                return


# ---------------------------------------------------------------- the recorder


def _record(path: str) -> None:
    """Record this process and those that it starts. A worker of xdist has found the recorder at its start."""
    from jaxlint.recording.launch import VARIABLE, CannotLaunch, begin, environment

    if os.environ.get(VARIABLE) == os.path.abspath(path):
        return
    if os.environ.get(VARIABLE):
        raise pytest.UsageError("--jaxlint-record: this program is being recorded already")
    try:
        begin(path, ["pytest", *sys.argv[1:]])
    except CannotLaunch as error:
        raise pytest.UsageError(f"--jaxlint-record: {error}") from None
    os.environ.update(environment(path, os.environ))
    _recording("waiting").for_jax(path)


def _is_recorded() -> bool:
    """Whether the recorder came with the start of this process: under `jaxlint record`, or in a worker."""
    return _CHILD in sys.modules


def _recording(name: str) -> Any:
    """A module of the recorder: of the one that is there already, else of ours."""
    package = _CHILD if _is_recorded() else "jaxlint.confirm.child"
    return importlib.import_module(f"{package}.recording.{name}")


def _uses_fixture(config: pytest.Config) -> bool:
    """Whether the fixture is named in a test file or a conftest that may be collected."""
    directory = str(config.invocation_params.dir)
    given = getattr(config.known_args_namespace, "file_or_dir", [])
    places = [os.path.join(directory, argument.partition("::")[0]) for argument in given]
    places = [place for place in places if os.path.exists(place)]
    testpaths = [os.path.join(str(config.rootpath), path) for path in config.getini("testpaths")]
    return any(map(_names_fixture, places or testpaths or [directory]))


def _names_fixture(place: str) -> bool:
    if os.path.isfile(place):
        beside = os.path.join(os.path.dirname(place), "conftest.py")
        return _holds(place) or (os.path.isfile(beside) and _holds(beside))
    for directory, directories, names in os.walk(place):
        directories[:] = [name for name in directories if name not in _SKIPPED and name[:1] != "."]
        if any(_is_test(name) and _holds(os.path.join(directory, name)) for name in names):
            return True
    return False


def _is_test(name: str) -> bool:
    return name.endswith(("_test.py", "conftest.py")) or (name[:5] == "test_" and name[-3:] == ".py")


def _holds(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _FIXTURE in file.read()
    except OSError:
        return False
