#!/usr/bin/env bash
# The tests of --confirm and of the recorder with an old and the newest jax that python3 admits:
#
#     scripts/matrix.sh [VERSION...]         (default: 0.6.2 newest)
#
# Each version has an environment of its own, MATRIX_DIR/jax-VERSION (default: .matrix), which is kept for the next
# time. Python 3.10 admits nothing newer than 0.6.2.
set -uo pipefail
cd "$(dirname "$0")/.."
directory=${MATRIX_DIR:-.matrix}
export PIP_DISABLE_PIP_VERSION_CHECK=1 JAX_PLATFORMS=cpu
failed=""
[ $# -gt 0 ] || set -- 0.6.2 newest

for version in "$@"; do
    environment="$directory/jax-$version"
    wanted="jax==$version"
    [ "$version" != newest ] || wanted="jax"
    if ! "$environment/bin/python" -c "import jax, jaxlint, pytest" 2> /dev/null; then
        python3 -m venv "$environment"
        if ! "$environment/bin/python" -m pip install -q -e '.[dev,cuda-aot]' "$wanted"; then
            failed="$failed jax-$version(install)"
            continue
        fi
    fi
    echo "== $("$environment/bin/python" -c 'import jax, sys; print("Python", sys.version.split()[0], "jax", jax.__version__)')"
    "$environment/bin/python" -m pytest -q tests/confirm tests/recording || failed="$failed jax-$version"
done

[ -z "$failed" ] || echo "failed:$failed"
[ -z "$failed" ]
