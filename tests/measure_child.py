"""Runs measurement programs in one process, since jax takes a second to start.

Reads a JSON list of [name, program] on standard input and prints a JSON object {name: [output, error]}.
"""

import contextlib
import gc
import io
import json
import sys
import traceback


def main() -> None:
    results = {}
    for name, program in json.load(sys.stdin):
        printed = io.StringIO()
        error = ""
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(program, name, "exec"), {"__name__": "__main__"})
        except Exception:
            error = traceback.format_exc()
        results[name] = [printed.getvalue(), error]
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()
        gc.collect()
    print(json.dumps(results))


if __name__ == "__main__":
    main()
