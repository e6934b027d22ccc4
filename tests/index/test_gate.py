"""What a byte search finds of a file's imports."""

from __future__ import annotations

import pytest

from jaxlint.index.gate import import_text, imported_names, names_jax


def taken(source: str, name: str = "pkg.sub.mod", is_package: bool = False) -> set[tuple[str, ...]]:
    return set(imported_names(import_text(source.encode()), name, is_package))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b as c, d", {("a.b",), ("a",), ("d",)}),
        ("from a.b import c as d, e", {("a.b.c", "a.b"), ("a.b.e", "a.b")}),
        ("from a import (\n    b,\n    c as d,\n)", {("a.b", "a"), ("a.c", "a")}),
        ("from a import b, \\\n    c", {("a.b", "a"), ("a.c", "a")}),
        ("from a import *", {("a.*", "a")}),
        ("from . import b", {("pkg.sub.b", "pkg.sub")}),
        ("from ..a import b", {("pkg.a.b", "pkg.a")}),
        ("from.a import(b)", {("pkg.sub.a.b", "pkg.sub.a")}),
        ("def f():\n    import a", {("a",)}),
        ("try: import a\nexcept ImportError: pass", {("a",)}),
        ("x = 1; from a import b", {("a.b", "a")}),
        ("import a\r\nimport b\r\n", {("a",), ("b",)}),
        ("import a\rimport b\r", {("a",), ("b",)}),
        ("important = reimport(x)  # import it\n", set()),
        ("# import a\n", set()),
        ("import a  # and import b\n", {("a",)}),
    ],
)
def test_what_is_taken(source: str, expected: set[tuple[str, ...]]) -> None:
    assert taken(source) == expected


def test_in_a_package() -> None:
    assert taken("from . import b", "pkg.sub", True) == {("pkg.sub.b", "pkg.sub")}
    assert taken("from .. import b", "pkg.sub", True) == {("pkg.b", "pkg")}
    assert ("b", "") in taken("from ... import b", "pkg.sub")


def test_what_names_jax() -> None:
    assert names_jax(b"from flax import nnx") and names_jax(b"os.environ['XLA_FLAGS']")
    assert not names_jax(b"import numpy as np")
