#!/bin/sh
# What running two kernels together gains, measured and simulated, without a GPU: validate/scripts/pairs_drawn.sh [-v] [-g] [ARCHIVE [DEVICE]]
#
# ARCHIVE (default: validate/recordings/pairs-h100-41.tar.zst) holds pairs that traces/scenarios/drawn_pairs.py drew, their launches
# under Nsight Compute and what became of them on a GPU, DEVICE (default: h100).  pairs-h200-43.tar.zst,
# pairs-h200-271.tar.zst (h200) and pairs-h200-1009.tar.zst are of other seeds, drawn later.  Archives are made on the GPU by
#   drawn_pairs.py 41 104 320 FOLDER    (which drew four blocks a tile for gemm_tiled in pairs-h100-41)
#   gridtide validate FOLDER/pair-*.jsonl --repeat 3 --blocks off -o measured.db
#   traces/record/profile.sh OUT profile kernels/profile FOLDER/launches.cases
# 41 and 43 were drawn with half of the shared memory of cp_async_pipeline with 128 threads, and corrected (traces and stores).
# The kernels' cost is their machine code's.  Prints the figures of pair_gains.py; -g: of the GPU's part; -v: by pair.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
options=
while [ "${1:-}" = -v ] || [ "${1:-}" = -g ]; do options="$options $1"; shift; done
archive=${1:-$here/../recordings/pairs-h100-41.tar.zst} device=${2:-h100}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
zstd -dcq "$archive" | tar -x -C "$work" --strip-components=1
"$GRIDTIDE" validate -q --measured "$work/measured.db" --device "$device" --programs "$work/profile.jsonl.zst" --cost program \
    --blocks off --repeat 3 "$work"/pair-*.jsonl -o "$work/now.db" > "$work/log"
"$here/pair_gains.py" $options "$work/now.db"
