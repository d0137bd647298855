#!/bin/sh
# Gridtide and Accel-Sim on the same traces:  ACCELSIM=SOURCES tests/bench/accelsim.sh FOLDER...
# Each FOLDER has a kernelslist.g; `gridtide export accelsim` makes one of profiled kernels.  Prints a line a trace: kernels of the list, kernels that each simulated to their end, their
# cycles, the mean error of a kernel's cycles against measured ones, seconds and MB of memory.
#
#   ACCELSIM      Accel-Sim v2.0.0 with GPGPU-Sim beside it, as its own build wants them; built here if it is not yet
#   ACCELSIM_OUT  a built accel-sim.out instead (default: $ACCELSIM/gpu-simulator/bin/release/accel-sim.out)
#   CONFIG        its tested configuration (default: SM90_H100); DEVICE: Gridtide's device (default: h100)
#   MEASURED      CSV of cycles on hardware: FOLDER's name,number of the kernel from 0,cycles
#   COLD          not empty: each kernel finds L2 cold in Gridtide, as those that Nsight Compute measures do by default
#   LIMIT         seconds for a trace, after which Accel-Sim is stopped (default: 3600)
#   GRIDTIDE      the program (make bench sets it)
set -u
GRIDTIDE=${GRIDTIDE:-build/gridtide}
CONFIG=${CONFIG:-SM90_H100}
DEVICE=${DEVICE:-h100}
LIMIT=${LIMIT:-3600}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail()
{
    echo "accelsim.sh: $1" >&2
    exit 1
}

# As its README says: the environment, then make.
build()
{
    [ -x "$ACCELSIM_OUT" ] && return
    echo "building $ACCELSIM" >&2
    # shellcheck disable=SC2016 # the inner shell's
    bash -c 'cd "$1/gpu-simulator" && . ./setup_environment.sh && make -j' build "$ACCELSIM" > "$folder/build.log" 2>&1 ||
        { tail -n 20 "$folder/build.log" >&2; fail "Accel-Sim does not build"; }
}

# timed PART COMMAND...: its output in PART.log; seconds and MB in PART.time.
timed()
{
    part=$1
    shift
    begin=$(date +%s.%N)
    if [ -x /usr/bin/time ]; then
        /usr/bin/time -o "$folder/$part.memory" -f %M "$@" > "$folder/$part.log" 2>&1
    else
        echo - > "$folder/$part.memory"
        "$@" > "$folder/$part.log" 2>&1
    fi
    end=$(date +%s.%N)
    tail -n 1 "$folder/$part.memory" |
        awk -v from="$begin" -v to="$end" '{ printf "%.2f %s\n", to - from, $1 == "-" ? "-" : int($1 / 1024 + 1) }' > "$folder/$part.time"
}

# Cycles a kernel, in the order of launches.  Accel-Sim says them when a kernel ends.
cycles_of_accelsim()
{
    awk '$1 == "gpu_sim_cycle" && $2 == "=" { print $3 }' "$1"
}

# The third column of the table of kernels.
cycles_of_gridtide()
{
    awk '$1 == "launch" && $2 == "measured_cycles" { table = 1; next } table && NF == 0 { exit } table { print $3 }' "$1"
}

# error NAME CYCLES: mean error in %, of the kernels that were measured; - without any.
error()
{
    [ -n "${MEASURED:-}" ] || { echo -; return; }
    awk -F, -v name="$1" 'NR == FNR { if ($1 == name && $3 > 0) of[$2] = $3; next }
        (FNR - 1) in of { e = ($1 - of[FNR - 1]) / of[FNR - 1]; sum += e < 0 ? -e : e; n++ }
        END { if (n) printf "%.1f\n", 100 * sum / n; else print "-" }' "$MEASURED" "$2"
}

sum()
{
    awk '{ s += $1 } END { printf "%d\n", s }' "$1"
}

one()
{
    name=$(basename "$1")
    kernels=$(grep -c '^kernel' "$1/kernelslist.g")
    timed accelsim timeout "$LIMIT" "$ACCELSIM_OUT" -trace "$1/kernelslist.g" \
        -config "$ACCELSIM/gpu-simulator/gpgpu-sim/configs/tested-cfgs/$CONFIG/gpgpusim.config" \
        -config "$ACCELSIM/gpu-simulator/configs/tested-cfgs/$CONFIG/trace.config"
    timed gridtide "$GRIDTIDE" run "$1" --device "$DEVICE" --cost program ${COLD:+--set memory.l2_reuse_bytes=0} -o "$folder/run.db"
    for simulator in accelsim gridtide; do
        "cycles_of_$simulator" "$folder/$simulator.log" > "$folder/$simulator.cycles"
        echo "$name $simulator $kernels $(grep -c . "$folder/$simulator.cycles") $(sum "$folder/$simulator.cycles") $(error "$name" "$folder/$simulator.cycles") $(cat "$folder/$simulator.time")"
    done
    rm -f "$folder/run.db"
}

# Without Accel-Sim: how fast a trace is read, a stencil of 2048 thread blocks.
read_alone()
{
    python3 "$(dirname "$0")/../data/accelsim/known.py" stencil 1024 512 32 64 > "$folder/stencil.traceg" || exit 1
    timed import "$GRIDTIDE" import -q "$folder/stencil.traceg" -o "$folder/stencil.jsonl"
    echo "not compared: ACCELSIM=SOURCES tests/bench/accelsim.sh FOLDER... (its head says more)"
    echo "instructions $(grep -c ' EXIT \|LDG\|STG' "$folder/stencil.traceg") bytes $(wc -c < "$folder/stencil.traceg") seconds and mb: $(cat "$folder/import.time")"
}

if [ $# -eq 0 ] || [ -z "${ACCELSIM:-}${ACCELSIM_OUT:-}" ]; then
    read_alone
    exit 0
fi
ACCELSIM=${ACCELSIM:-.}
ACCELSIM_OUT=${ACCELSIM_OUT:-$ACCELSIM/gpu-simulator/bin/release/accel-sim.out}
build
echo "trace simulator kernels finished cycles error_pct seconds mb"
for trace in "$@"; do
    [ -f "$trace/kernelslist.g" ] || fail "$trace has no kernelslist.g"
    one "$trace"
done
