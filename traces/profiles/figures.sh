#!/bin/sh
# How far the warp tier's cycles are from the profiled ones: traces/profiles/figures.sh
# Prints a line a profile, one for all launches, and one each for those that took part in fitting, those held
# out (held-out.txt) and those below 5 us: name, launches, MAPE in %, worst in %, Pearson's r of the cycles.
# GRIDTIDE names the program (default: build/gridtide).  With GUESS=1 without the control fields of the machine code,
# which are then guessed (traces/sass/control_guess.h), as those of traces of instructions are.
set -eu
GRIDTIDE=${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for trace in "$here"/*.jsonl.zst; do
    name=$(basename "$trace" .jsonl.zst)
    if [ -n "${GUESS:-}" ]; then
        zstd -dcq "$trace" | jq -c 'if has("sass") then del(.control) else . end' > "$work/guess.jsonl"
        trace=$work/guess.jsonl
    fi
    "$GRIDTIDE" run -q "$trace" -o "$work/run.db"
    "$GRIDTIDE" compare "$work/run.db" --format json |
        jq -c --arg name "$name" --arg held "$(sed -n "s/^$name //p" "$here/held-out.txt")" '
            ($held | split(" ") | map(tonumber)) as $held
            | [.. | objects | select(has("mape_pct"))][0]
            | { below: { count: .launches_below_5us, mape: .mape_below_5us_pct } },
              (.kernels[] | select(.error_pct != null)
               | { name: $name, held: (.launch as $l | $held | any(. == $l)), error: (.error_pct | fabs),
                   x: .measured_cycles, y: .simulated_cycles })'
done > "$work/launches"
jq -rs '
    def rounded: . * 100 | round / 100;
    def pearson: (map(.x) | add / length) as $mx | (map(.y) | add / length) as $my
        | (map((.x - $mx) * (.y - $my)) | add) / ((map(.x - $mx | . * .) | add) * (map(.y - $my | . * .) | add) | sqrt)
        | . * 10000 | floor / 10000;
    def line($name): "\($name) \(length) \(map(.error) | add / length | rounded) \(map(.error) | max | rounded) \(pearson)";
    [.[] | select(.below) | .below | select(.count > 0)] as $below
    | [.[] | select(.name)]
    | (group_by(.name)[] | .[0].name as $name | line($name)),
      line("all"), (map(select(.held | not)) | line("fitted")), (map(select(.held)) | line("held-out")),
      "below-5us \($below | map(.count) | add) \($below | (map(.count * .mape) | add) / (map(.count) | add) | rounded) - -"
' "$work/launches"
