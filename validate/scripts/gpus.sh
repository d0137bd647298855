#!/bin/sh
# Hold the simulator against the traces of two GPUs as two H200s played them (validate/recordings/gpus.db.zst), without a GPU:
# validate/scripts/gpus.sh [FOLDER]
#
# Of the scenarios in FOLDER (default: traces/scenarios/gpus) a line each: name, makespan measured and simulated in us, error in
# %, with the host's calls as measured in %, what the real runs spread over in %; then the figures of all. GRIDTIDE names the
# program (default: build/gridtide).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
GRIDTIDE=${GRIDTIDE:-$here/../../build/gridtide}
folder=${1:-$here/../../traces/scenarios/gpus}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

zstd -q -d "$here/../recordings/gpus.db.zst" -o "$work/measured.db"
"$GRIDTIDE" validate "$folder"/gpus-*.jsonl --measured "$work/measured.db" --repeat 5 --blocks off --format csv -o "$work/now.db" \
    > "$work/now.csv"
tr -d '\r' < "$work/now.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { print $column["trace"], $column["makespan_measured_us"], $column["makespan_simulated_us"], $column["makespan_error_pct"],
          $column["makespan_error_gpu_pct"], $column["makespan_spread_pct"] }' > "$work/lines"
awk '{ printf "%s %.1f %.1f %.2f %.2f %.1f\n", $1, $2, $3, $4, $5, $6 }' "$work/lines"
awk '{ print "makespan", $4 < 0 ? -$4 : $4; print "gpu", $5 < 0 ? -$5 : $5 }' "$work/lines" | sort -k 1,1 -k 2,2g | awk '
    { value[$1, ++count[$1]] = $2 }
    function figure(what, name, percent, place) {
        place = int((count[what] * percent + 99) / 100)
        printf "figure %s_error_%s_pct %.3f\n", what, name, value[what, place]
    }
    END {
        print "figure traces", count["gpu"] + 0
        figure("makespan", "median", 50); figure("makespan", "p95", 95); figure("makespan", "worst", 100)
        figure("gpu", "median", 50); figure("gpu", "p95", 95); figure("gpu", "worst", 100)
    }'
