"""A file that is no program: which of its functions are traced or called for its claims to show."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from typing import Any

from jaxlint.confirm.claim import Claim
from jaxlint.confirm.observed import Observed
from jaxlint.confirm.options import Inputs
from jaxlint.confirm.overlay import import_root, module_name
from jaxlint.confirm.reach import Reach
from jaxlint.confirm.recipes import RECIPES
from jaxlint.record import record
from jaxlint.recording.changes import CLAIMED
from jaxlint.recording.history import History

_LOCALS = ".<locals>"
_STATIC_SELF = "JAX108"


@record
class Module:
    """A file that is imported rather than run: it lies in a package, and is no test."""

    name: str
    root: str

    @classmethod
    def of(cls, file: str) -> Module | None:
        """The module in a file (absolute), None for a program."""
        stem = os.path.splitext(os.path.basename(file))[0]
        is_test = stem.startswith("test_") or stem.endswith("_test")
        if (
            is_test
            or stem == "__main__"
            or not os.path.isfile(os.path.join(os.path.dirname(file), "__init__.py"))
        ):
            return None
        return cls(module_name(file), import_root(file))


Use = Mapping[str, Any]


class Uses:
    """The functions that claims need, and what came of their use. For a program there are none.

    `how` is what the worker is told beside the file (`child/program.py`).
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        file: str,
        tree: ast.Module | None,
        given: Mapping[str, Inputs],
        history: History | None,
    ) -> None:
        """`file` is absolute, `given` are the inputs of the settings; `history` may hold those of real calls."""
        self._file = file
        self._given = given
        self._history = history
        self._names: dict[int, list[str]] = {}
        self._requests: list[dict[str, Any]] = []
        self._module = Module.of(file) if tree is not None else None
        self.how: dict[str, Any] = {}
        if self._module is None or tree is None:
            return
        self._reach = Reach(tree)
        for one in claims:
            self._names[id(one)] = names = self._around(one)
            for name in names:
                request = self._request(name, one)
                if request not in self._requests:
                    self._requests.append(request)
        self.how = self._asking(self._requests)

    def _asking(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        assert self._module is not None
        return {"module": self._module.name, "root": self._module.root, "wanted": requests}

    # ------------------------------------------------------------ what came of it

    def of(self, one: Claim, seen: Observed) -> list[Use]:
        """What came of the functions that a claim needs."""
        names = self._names.get(id(one), ())
        pairs = zip(self._requests, seen.exercised, strict=False)
        return [use for request, use in pairs if request["name"] in names]

    def without_inputs(self, one: Claim, seen: Observed) -> str:
        """Why no function that the claim needs could be used, "" if one was, or the claim's statement ran."""
        reasons = [_why_unused(use) for use in self.of(one, seen)]
        if seen.runs(one.site) and any(use["raised"] for use in self.of(one, seen)):
            return ""
        return reasons[0] if reasons and all(reasons) else ""

    def are_made_up(self, one: Claim, seen: Observed) -> bool:
        """Whether the sizes of the inputs are none of the program's own use."""
        return bool(self.how) and not any(use["real"] for use in self.of(one, seen))

    # ------------------------------------------------------------ what is asked

    def two_calls(self, one: Claim) -> dict[str, Any]:
        """How to call the boundaries that a claim about retraces names twice; {} where it names none of the file.

        The second call differs in what the claim says to matter.
        """
        claimed = CLAIMED.get(one.finding.code)
        if claimed is None or not self.how:
            return {}
        causes = sorted(cause.value for cause in claimed)
        found = []
        for function in self._reach.called(one.finding.message):
            names = ["self"] if one.finding.code == _STATIC_SELF else []
            names += self._reach.passed(function, one.finding.message, [one.site])
            if names:
                request = {"how": "call", "causes": causes, "names": names}
                found.append({**self._inputs(function.name), **request})
        return self._asking(found) if found else {}

    def _request(self, name: str, one: Claim) -> dict[str, Any]:
        """What is asked of a function around a claim (`child/functions.py`)."""
        recipe = RECIPES[one.finding.code]
        request = self._inputs(name)
        if recipe.traced:
            callers = [self._inputs(caller) for caller in self._reach.callers(name)]
            return {**request, "how": "trace", "callers": callers}
        request.update(how="call", times=recipe.times, again=recipe.again)
        if not recipe.again:
            names = self._reach.meant(self._reach.functions[name], one.finding.message)
            causes = CLAIMED.get(one.finding.code, ()) if names else ()
            request.update(causes=sorted(cause.value for cause in causes), names=names)
        return request

    def _inputs(self, name: str) -> dict[str, Any]:
        assert self._module is not None
        given = self._given.get(f"{self._module.name}:{name}")
        table = None if given is None else {"args": list(given.args), "kwargs": dict(given.kwargs)}
        calls = self._history.calls(self._file, name) if self._history is not None else []
        return {"name": name, "given": table, "recorded": calls}

    def _around(self, one: Claim) -> list[str]:
        """The functions around the claim's statements; of nested ones the outermost, which can be reached."""
        symbol = one.finding.symbol.partition(_LOCALS)[0]
        found = [symbol] if symbol else []
        for site in one.sites:
            if site.file == one.site.file:
                found += self._reach.around(site.first)
        return list(dict.fromkeys(name for name in found if name in self._reach.functions))


def _why_unused(use: Use) -> str:
    """Why there were no inputs, or what the function raised with them."""
    if use["without"] or use["raised"] is None:
        return str(use["without"])
    said = " ".join(str(use["raised"]["message"]).split())[:160]
    return f"`{use['name']}` fails with inputs from {use['source']}: {use['raised']['kind']}: {said}"
