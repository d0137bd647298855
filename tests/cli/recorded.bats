# Programs that gridtide record wrote down on an H200: nothing had to be guessed, and replays are as they ran.

load figures_helpers

folder="$GRIDTIDE_SOURCE/traces/recorded_programs"

@test "no recorded program lacks a wait, a priority or an edge" {
    for file in "$folder"/*.jsonl.gz; do
        echo "$file"
        zcat "$file" | head -n 1 > "$BATS_TEST_TMPDIR/header"
        ! grep -q -E '"kind":"[a-z-]*(unknown|missing|dropped|cut-off|without)' "$BATS_TEST_TMPDIR/header"
    done
}

@test "replays of recorded programs: 22 of 23 within 1%, all within 2.6%" {
    as_released
    within=0
    for file in "$folder"/*.jsonl.gz; do
        "$GRIDTIDE" run -q "$file" -o "$BATS_TEST_TMPDIR/run.db" > /dev/null
        error=$("$GRIDTIDE" compare "$BATS_TEST_TMPDIR/run.db" -f csv |
                awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $(at["makespan_error_pct"]) }')
        rm "$BATS_TEST_TMPDIR/run.db"
        echo "$file $error"
        awk -v error="$error" 'BEGIN { exit !(error < 2.6 && error > -2.6) }'
        within=$((within + $(awk -v error="$error" 'BEGIN { print (error <= 1 && error >= -1) }')))
    done
    echo "$within"
    [ "$within" -ge 22 ]
}

@test "replays of programs drawn from seeds: 25 of 27 within 1%, all within 4.6%" {
    within=0
    for file in "$folder"/drawn/*.jsonl.gz; do
        "$GRIDTIDE" run -q "$file" -o "$BATS_TEST_TMPDIR/run.db" > /dev/null
        error=$("$GRIDTIDE" compare "$BATS_TEST_TMPDIR/run.db" -f csv |
                awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $(at["makespan_error_pct"]) }')
        rm "$BATS_TEST_TMPDIR/run.db"
        echo "$file $error"
        awk -v error="$error" 'BEGIN { exit !(error < 4.6 && error > -4.6) }'
        within=$((within + $(awk -v error="$error" 'BEGIN { print (error <= 1 && error >= -1) }')))
    done
    echo "$within"
    [ "$within" -ge 25 ]
}
