#!/bin/sh
# What running two kernels together gains, measured and simulated, without a GPU: validate/scripts/pairs_drawn.sh [-v] [ARCHIVE]
#
# ARCHIVE (default: validate/recordings/pairs-h100-41.tar.zst) holds pairs that traces/scenarios/drawn_pairs.py drew, their launches
# under Nsight Compute and what became of them on a GPU.  It was made on an H100 by
#   drawn_pairs.py 41 104 320 FOLDER    (which then drew four blocks a tile for gemm_tiled)
#   gridtide validate FOLDER/pair-*.jsonl --repeat 3 --blocks off -o measured.db
#   traces/record/profile.sh OUT profile kernels/profile FOLDER/launches.cases
# The kernels' cost is their machine code's.  Prints the figures of pair_gains.py.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
verbose=
[ "${1:-}" != -v ] || { verbose=-v; shift; }
archive=${1:-$here/../recordings/pairs-h100-41.tar.zst}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zstd -dcq "$archive" | tar -x -C "$work" --strip-components=1
"$GRIDTIDE" validate -q --measured "$work/measured.db" --device h100 --programs "$work/profile.jsonl.zst" --cost program \
    --blocks off --repeat 3 "$work"/pair-*.jsonl -o "$work/now.db" > "$work/log"
"$here/pair_gains.py" $verbose "$work/now.db"
