#!/bin/sh
# The warp tier: warp instructions simulated and covered a second, over the profiled kernels in traces/profiles
# and in the folders named by GRIDTIDE_PROFILES.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
for trace in "$GRIDTIDE_SOURCE"/traces/profiles/*.jsonl* $GRIDTIDE_PROFILES; do
    [ -e "$trace" ] || continue
    "$GRIDTIDE" run -q "$trace" -o "$folder/run.db" || exit 1
    "$GRIDTIDE" compare "$folder/run.db" > "$folder/out" || exit 1
    awk -v trace="$(basename "$trace")" '
        { value[$1] = $2 }
        END {
            printf "%s: %d launches, %.1f M warp instructions in %.2f s: %.1f M/s, standing for %.0f M/s\n",
                trace, value["launches"], value["warp_instructions"] / 1e6,
                value["warp_instructions"] / value["warp_instructions_per_s"],
                value["warp_instructions_per_s"] / 1e6, value["covered_per_s"] / 1e6
        }' "$folder/out"
done
