# Programs that gridtide record wrote down on an H200: nothing had to be guessed.

folder="$GRIDTIDE_SOURCE/traces/recorded_programs"

@test "no recorded program lacks a wait, a priority or an edge" {
    for file in "$folder"/*.jsonl.gz; do
        echo "$file"
        zcat "$file" | head -n 1 > "$BATS_TEST_TMPDIR/header"
        ! grep -q -E '"kind":"[a-z-]*(unknown|missing|dropped|cut-off|without)' "$BATS_TEST_TMPDIR/header"
    done
}

@test "an answer says that recording was measured and is taken off" {
    run "$GRIDTIDE" whatif -q "$GRIDTIDE_SOURCE/traces/recorded_pairs/record/chains-short.streams-1.jsonl.gz" --change streams=2 \
        '--independent=*'
    [[ "$output" == *"Measured profiler overhead is subtracted"* ]]
}
