#!/usr/bin/env bash
# What only a real GPU can show, in one go of less than eight minutes:
#
#     scripts/gpu_check.sh [DIRECTORY]        (default: gpu-check)
#
# It compares the memory that XLA plans for the GPU with what it plans for that GPU's description, runs the tests
# marked `gpu`, records captures of programs that run out of memory, and writes DIRECTORY/report.md. Without a GPU
# the steps that need one are skipped by name and the others run on the CPU. PYTHON names an interpreter that has
# jaxlint, pytest and jax; otherwise .venv is taken, else an environment is made on top of python3's own packages.
set -uo pipefail
cd "$(dirname "$0")/.."
out=$(mkdir -p "${1:-gpu-check}" && cd "${1:-gpu-check}" && pwd)
report="$out/report.md"
failed=0
export TF_CPP_MIN_LOG_LEVEL=3 PYTHONUNBUFFERED=1

note() { printf '%s\n' "$1" | tee -a "$report"; }

step() { # NAME SECONDS COMMAND...: run it for so long at most; its output is NAME.log, its last line in the report
    local name=$1 limit=$2 begin=$SECONDS rc
    shift 2
    timeout -k 5 "$limit" "$@" > "$out/$name.log" 2>&1 < /dev/null
    rc=$?
    if [ "$rc" = 0 ]; then
        note "- $name: passed in $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log")"
    else
        failed=1
        note "- $name: FAILED with $rc after $((SECONDS - begin)) s: $(tail -n 1 "$out/$name.log")"
    fi
    return "$rc"
}

skip() { note "- $1: skipped, $2"; }

has() { "$1" -c "import jax, jaxlint, pytest" 2> /dev/null; }

printf '# GPU check, %s\n\n' "$(date -u +%FT%TZ)" > "$report"
python=${PYTHON:-.venv/bin/python}
if ! has "$python"; then
    python="$out/venv/bin/python"
    if ! has "$python"; then
        python3 -m venv --system-site-packages "$out/venv"
        step environment 240 "$python" -m pip install -q -e '.[dev,cuda-aot]' || exit 1
    fi
fi

gpu=$("$python" -c "import jax; print(jax.devices('gpu')[0].device_kind)" 2> /dev/null | tail -n 1)
note "Python: $("$python" -c 'import jax, sys; print(sys.executable, sys.version.split()[0], "jax", jax.__version__)')"
note "GPU: ${gpu:-none}"
note ""

step targets 60 "$python" -m jaxlint targets
if [ -n "$gpu" ]; then
    nvidia-smi > "$out/nvidia-smi.txt" 2>&1
    step dump 60 "$python" -m jaxlint targets --python "$python" --dump && cp "$out/dump.log" "$out/this_gpu.txtpb"
    step compare 150 "$python" scripts/compare_with_gpu.py
    step captures 170 "$python" scripts/record_oom_captures.py "$out/captures"
else
    skip dump "no GPU"
    skip compare "no GPU"
    if "$python" -m jaxlint targets --output-format json | grep -A5 '"cuda:a6000"' | grep -q '"ready": true'; then
        step compare-descriptions 150 env JAX_PLATFORMS=cpu "$python" scripts/compare_with_gpu.py --without-gpu
    else
        skip compare-descriptions "needs the extra cuda-aot"
    fi
    skip captures "no GPU"
    step captures-tiny 170 env JAX_PLATFORMS=cpu "$python" scripts/record_oom_captures.py "$out/captures" --tiny
fi
step tests 150 "$python" -m pytest -q -m gpu -rs tests/confirm

note ""
note "Took $SECONDS s. The output of each step is beside this file."
exit "$failed"
