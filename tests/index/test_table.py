"""Which file a dotted name means."""

from __future__ import annotations

from jaxlint.index.table import ModuleEntry, ModuleTable


def entry(path: str, name: str, *more: str) -> ModuleEntry:
    return ModuleEntry(path, path, (name, *more), path.endswith("__init__.py"), "")


def test_a_file_named_like_a_library_is_not_the_library() -> None:
    train = entry("/r/pkg/train.py", "pkg.train")
    beside = entry("/r/scripts/run.py", "run", "scripts.run")
    table = ModuleTable(
        [
            train,
            beside,
            entry("/r/pkg/ops/jax.py", "pkg.ops.jax"),
            entry("/r/scripts/jax.py", "jax", "scripts.jax"),
            entry("/r/vendored/_src/jax/__init__.py", "jax", "_src.jax", "vendored._src.jax"),
            entry("/r/scripts/random.py", "random", "scripts.random"),
        ],
        "/r",
    )
    for near in (train, beside):
        assert table.find("jax", near) is None
        assert table.find("random", near) is None
    found = table.find("scripts.jax", train)
    assert found is not None and found.path == "/r/scripts/jax.py"


def test_a_project_that_is_the_library_knows_itself() -> None:
    for root, top in (("/r", "/r"), ("/r", "/r/src"), ("", "/elsewhere")):
        package = entry(f"{top}/flax/__init__.py", "flax")
        module = entry(f"{top}/flax/nnx/state.py", "flax.nnx.state")
        table = ModuleTable([package, module], root)
        assert table.find("flax", module) is package
        assert table.find("flax.nnx.state", package) is module


def test_tests_see_the_library_at_the_root() -> None:
    test = entry("/r/tests/test_state.py", "test_state", "tests.test_state")
    package = entry("/r/flax/__init__.py", "flax")
    assert ModuleTable([test, package], "/r").find("flax", test) is package
