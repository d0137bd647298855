#!/bin/sh
# How far simulated runs are from recorded ones: every profile in the folders given (traces/samples when
# none is), one line each, and what it comes to.  GRIDTIDE names the program (build/gridtide when unset).
#   tests/accuracy.sh [--gaps=calibrated] [FOLDER...]
# With --gaps=calibrated the GPU's gaps and latencies are the device file's, not the recording's.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
program=${GRIDTIDE:-$source/build/gridtide}
gaps=--gaps=recorded
case ${1-} in --gaps=*) gaps=$1 && shift ;; esac
[ $# -gt 0 ] || set -- "$source/traces/samples"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

find "$@" -type f \( -name '*.json' -o -name '*.json.gz' -o -name '*.sqlite' -o -name '*.sqlite.gz' \) | sort |
while read -r file; do
    if "$program" run -q "$gaps" "$file" -o "$folder/run.db" 2>"$folder/why" &&
       "$program" compare "$folder/run.db" --format csv >"$folder/compare" 2>"$folder/why"; then
        awk -F, -v name="$(basename "$file")" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            NR == 2 { print name "," $(at["makespan_measured_us"]) "," $(at["makespan_error_pct"]) "," \
                      $(at["start_error_median_us"]) "," $(at["start_error_median_pct"]) }
        ' "$folder/compare"
    else
        cat "$folder/why" >&2
    fi
done >"$folder/all"
awk -F, '
    function size(x) { return x < 0 ? -x : x }
    $3 == "" { printf "%-62.62s nothing recorded\n", $1; next }
    { printf "%-62.62s %14.3f us  makespan %+8.3f%%  start median %10.3f us %7.3f%%\n", $1, $2, $3, $4, $5
      count++; within3 += size($3) <= 3; within10 += size($3) <= 10; start1 += $5 <= 1
      if (size($3) > worst) worst = size($3); if ($5 > worst_start) worst_start = $5 }
    END { printf "%d files: makespan within 3%%: %d, within 10%%: %d, worst %.3f%%; median start error within 1%%: %d, worst %.3f%%\n",
          count, within3, within10, worst, start1, worst_start }
' "$folder/all"
