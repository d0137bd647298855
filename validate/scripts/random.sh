#!/bin/sh
# Hold the simulator against random traces recorded on H200s, without a GPU: validate/scripts/random.sh SEED [COUNT]
#
# The first COUNT (default: all that were recorded) traces that SEED draws against validate/recordings/random-SEED.db.zst. Prints a line
# a family, and one for all: traces; makespan error without sign, median, 90th, 95th percentile and worst, in %; how far it is
# beyond the spread of the real runs, median and 95th percentile; pairs of kernels in the wrong order, of pairs; and with
# the host's calls as measured, the GPU's part alone: median, 95th percentile and worst; of all real runs of traces with a
# range the share within it, in %, and how wide the ranges are in the median, in % of the simulated makespan.
# GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
seed=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

zstd -q -d "$here/../recordings/random-$seed.db.zst" -o "$work/measured.db"
families=$(sqlite3 "$work/measured.db" "WITH drawn AS (SELECT trace_id, substr(name, instr(name, '/') + 1) AS name FROM trace)
    SELECT group_concat(family) FROM (SELECT substr(name, 1, instr(name, '-') - 1) AS family FROM drawn
        GROUP BY family ORDER BY min(trace_id))")
count=${2:-$(sqlite3 "$work/measured.db" "SELECT count(*) FROM trace")}
repetitions=$(sqlite3 "$work/measured.db" "SELECT max(repetition) + 1 FROM run WHERE kind = 'measured'")
"$GRIDTIDE" validate --random "$count" --draw-seed "$seed" --families "$families" --repeat "$repetitions" --measured "$work/measured.db" --blocks off \
    --format csv -o "$work/now.db" > "$work/now.csv"
tr -d '\r' < "$work/now.csv" | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    $column["trace"] !~ /\// || $column["makespan_error_pct"] == "" { next }
    {
        family = $column["trace"]; sub(/.*\//, "", family); sub(/-.*/, "", family)
        error = $column["makespan_error_pct"]; if (error < 0) error = -error
        beyond = error - $column["makespan_spread_pct"]; if (beyond < 0) beyond = 0
        gpu = $column["makespan_error_gpu_pct"]; if (gpu < 0) gpu = -gpu
        ranged = $column["range_runs"] != ""
        width = ranged ? 100 * ($column["range_high_us"] - $column["range_low_us"]) / $column["makespan_simulated_us"] : ""
        rest = $column["order_wrong"] + 0 " " $column["order_pairs"] + 0 " " gpu " " \
            (ranged ? $column["repetitions"] : 0) " " $column["range_runs"] + 0 " " width
        print family, error, beyond, rest
        print "all", error, beyond, rest
    }' | sort -k1,1 -k2,2g > "$work/errors"
sort -k1,1 -k3,3g "$work/errors" > "$work/beyond"
sort -k1,1 -k6,6g "$work/errors" > "$work/gpu"
awk 'NF == 9' "$work/errors" | sort -k1,1 -k9,9g > "$work/widths"
awk '
    function rank(values, count, percent,   at) { at = int(percent / 100 * count + 0.999999); return values[at < 1 ? 1 : at] }
    FILENAME == ARGV[1] { n[$1]++; error[$1, n[$1]] = $2; wrong[$1] += $4; pairs[$1] += $5; runs[$1] += $7; within[$1] += $8; next }
    FILENAME == ARGV[2] { m[$1]++; beyond[$1, m[$1]] = $3; next }
    FILENAME == ARGV[3] { k[$1]++; gpu[$1, k[$1]] = $6; next }
    { r[$1]++; width[$1, r[$1]] = $9 }
    END {
        for (family in n) {
            for (i = 1; i <= n[family]; i++) { e[i] = error[family, i]; b[i] = beyond[family, i]; g[i] = gpu[family, i] }
            for (i = 1; i <= r[family]; i++) w[i] = width[family, i]
            c = n[family]
            printf "%s %d %.2f %.2f %.2f %.1f %.2f %.2f %d %d %.2f %.2f %.1f %.1f %.1f\n", family, c, rank(e, c, 50), rank(e, c, 90),
                rank(e, c, 95), e[c], rank(b, c, 50), rank(b, c, 95), wrong[family], pairs[family],
                rank(g, c, 50), rank(g, c, 95), g[c],
                (runs[family] > 0 ? 100 * within[family] / runs[family] : 0), (r[family] > 0 ? rank(w, r[family], 50) : 0)
        }
    }' "$work/errors" "$work/beyond" "$work/gpu" "$work/widths" | sort
