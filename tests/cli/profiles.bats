# The profiled kernels of an H200 against today's warp tier: a change must not make it worse.

setup() {
    command -v jq > /dev/null || skip "no jq program"
    folder="$GRIDTIDE_SOURCE/traces/kernels"
    [ -f "$folder/figures.txt" ] || skip "no profiles"
    cd "$BATS_TEST_TMPDIR"
}

@test "profiles: cycles are predicted as well as recorded in traces/kernels/figures.txt" {
    while read -r name launches mape pearson; do
        [[ "$name" != "#"* ]] || continue
        "$GRIDTIDE" run -q "$folder/$name.jsonl.zst" -o "$name.db"
        "$GRIDTIDE" compare "$name.db" --format json > "$name.json"
        jq -e --argjson launches "$launches" --argjson mape "$mape" --argjson pearson "$pearson" '
            .. | objects | select(has("mape_pct"))
            | .compared >= $launches and .mape_pct <= $mape + 0.1 and .pearson >= $pearson - 0.001' "$name.json" ||
            { echo "$name: recorded $launches launches, MAPE $mape %, Pearson $pearson; now:"
              jq -c '.. | objects | select(has("mape_pct")) | [.compared, .mape_pct, .pearson]' "$name.json"; false; }
    done < "$folder/figures.txt"
}
