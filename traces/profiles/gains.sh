#!/bin/sh
# What fetching ahead gains, measured and simulated: traces/profiles/gains.sh
# A line a pair of launches: the second launch's case, how many times as fast as the first it was when both
# were profiled, by the medians of repeats.csv (traces/record/repeat.sh), and simulated; and how many points that is
# off, from the medians. It needs jq. GRIDTIDE names the program (default: build/gridtide).
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Cases are numbered through both traces: the first 40 are those of library.
grep -v '^#' "$here/../record/library.cases" | grep . > "$work/cases"
for trace in library library2; do
    "$GRIDTIDE" run -q "$here/$trace.jsonl.zst" -o "$work/run.db"
    "$GRIDTIDE" compare "$work/run.db" --format json |
        jq -r --argjson first "$([ $trace = library ] && echo 0 || echo 40)" \
            '[.. | objects | select(has("mape_pct"))][0].kernels[]
             | "\(.launch + $first) \(.measured_cycles) \(.simulated_cycles)"'
done > "$work/cycles"
awk -v pairs="32-33 32-34 32-35 32-36 37-38 37-39 46-47 48-49 50-51 52-53 54-55" '
    FILENAME ~ /cycles$/ { split($0, field, " "); once[field[1]] = field[2]; simulated[field[1]] = field[3] }
    FILENAME ~ /cases$/ { name[count++] = $0 }
    FILENAME ~ /repeats.csv$/ { split($0, field, ","); median[field[1]] = field[3] }
    END {
        for (i = 1; i <= split(pairs, pair, " "); i++) {
            split(pair[i], launch, "-"); a = launch[1]; b = launch[2]
            real = median[name[a]] / median[name[b]]; model = simulated[a] / simulated[b]
            printf "%s: profiled %.3f, median %.3f, simulated %.3f, off %+.1f points\n", name[b],
                once[a] / once[b], real, model, 100 * (model - real)
        }
    }' "$work/cycles" "$work/cases" "$here/repeats.csv"
