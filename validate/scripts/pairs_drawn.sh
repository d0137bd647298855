#!/bin/sh
# What running kernels together gains, measured and simulated, without a GPU: validate/scripts/pairs_drawn.sh [-v] [-g] [ARCHIVE [DEVICE [FAMILY]]]
#
# ARCHIVE (default: validate/recordings/pairs-h100-41.tar.zst) holds kernels drawn at random, their launches under Nsight Compute, and
# what pairs or triples of them took on a GPU, DEVICE (default: h100).  FAMILY: pairs or triples alone.  pairs-h200-2718.tar.zst was made by
#   drawn_kernels.py 2718 104 FOLDER
#   traces/record/profile.sh OUT profile kernels/profile FOLDER/launches.cases
#   gridtide validate --random 360 --draw-seed 2718 --families pairs,triples --kernels FOLDER/kernels.jsonl --repeat 3 --blocks off -o measured.db
# The older archives (pairs-h100-41, pairs-h200-43, -271, -1009) hold traces of pairs, from before `gridtide validate` drew any.
# 41 and 43 were drawn with half of the shared memory of cp_async_pipeline with 128 threads, and corrected (traces and stores); 41 with
# four blocks a tile for gemm_tiled.
# The kernels' cost is their machine code's.  Prints the figures of pair_gains.py; -g: of the GPU's part; -v: by pair.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
options=
while [ "${1:-}" = -v ] || [ "${1:-}" = -g ]; do options="$options $1"; shift; done
archive=${1:-$here/../recordings/pairs-h100-41.tar.zst} device=${2:-h100} family=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zstd -dcq "$archive" | tar -x -C "$work" --strip-components=1
if [ -e "$work/kernels.jsonl" ]; then
    count=$(sqlite3 "$work/measured.db" 'SELECT count(*) FROM trace')
    seed=$(sqlite3 "$work/measured.db" "SELECT substr(name, 8, instr(name, '/') - 8) FROM trace LIMIT 1")
    set -- --random "$count" --draw-seed "$seed" --families pairs,triples --kernels "$work/kernels.jsonl"
else
    set -- "$work"/pair-*.jsonl
fi
"$GRIDTIDE" validate -q --measured "$work/measured.db" --device "$device" --programs "$work/profile.jsonl.zst" --cost program \
    --blocks off --repeat 3 "$@" -o "$work/now.db" > "$work/log"
"$here/pair_gains.py" $options "$work/now.db" "${family:+*/$family-*}"
