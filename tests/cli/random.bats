# Random traces recorded on H200s, simulated anew: where the simulator stands where nobody looked, and that a change makes
# it no worse. The bounds are the figures of validate/README.md for these traces with a little room above them.

load figures_helpers

setup()
{
    command -v zstd > /dev/null || skip "zstd is not installed"
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

# figure FAMILY COLUMN: of the lines that random.sh printed.
figure()
{
    awk -v family="$1" -v column="$2" '$1 == family { print $column }' "$BATS_TEST_TMPDIR/figures"
}

no_more_than()
{
    echo "$1, at most $2"
    awk "BEGIN { exit !($1 <= $2) }"
}

# within SEED MEDIAN P95 GPU-MEDIAN GPU-P95 WRONG: the first 210 traces of that seed.
within()
{
    "$GRIDTIDE_SOURCE/validate/scripts/random.sh" "$1" 210 > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    [ "$(figure all 2)" -eq 210 ]
    no_more_than "$(figure all 3)" "$2"
    no_more_than "$(figure all 5)" "$3"
    no_more_than "$(figure all 11)" "$4"
    no_more_than "$(figure all 12)" "$5"
    no_more_than "$(figure all 9)" "$6"
    no_more_than 82 "$(figure all 14)"
    no_more_than "$(figure all 15)" 12
}

@test "random: recorded traces are replayed without a GPU, no worse than written down" {
    as_released
    within 2026 1.9 13 0.5 5 700
}

@test "random: so are those recorded with the host measured in the same process" {
    as_released
    within 90210 1.5 15 0.65 7 620
}

@test "random: what was recorded is of the traces that the seed draws today" {
    cd "$BATS_TEST_TMPDIR"
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-1122.db.zst" -o measured.db
    [ "$(sqlite3 measured.db 'SELECT count(*) FROM trace')" -eq 1050 ]
    "$GRIDTIDE" validate -q --random 21 --draw-seed 1122 --repeat 2 --measured measured.db --blocks off -o now.db
    [ "$(sqlite3 now.db "SELECT count(*) FROM run WHERE kind = 'measured'")" -eq 42 ]
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-77031.db.zst" -o last.db
    [ "$(sqlite3 last.db 'SELECT count(*) FROM trace')" -eq 500 ]
    "$GRIDTIDE" validate -q --random 21 --draw-seed 77031 --repeat 3 --measured last.db --blocks off -o last-now.db
    [ "$(sqlite3 last-now.db "SELECT count(*) FROM run WHERE kind = 'measured'")" -eq 63 ]
}

@test "random: another seed's traces are not found in the store, and that is said" {
    cd "$BATS_TEST_TMPDIR"
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-2026.db.zst" -o measured.db
    run "$GRIDTIDE" validate -q --random 1 --draw-seed 5 --repeat 2 --measured measured.db -o now.db
    [ "$status" -eq 1 ]
    [[ $output == *random-5/streams-0* ]]
}

@test "random: families and numbers are checked" {
    run "$GRIDTIDE" validate --random 1 --families graphs,nothing
    [ "$status" -eq 1 ]
    [[ $output == *"no family 'nothing'"*mixed* ]]
    run "$GRIDTIDE" validate --random 0
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" validate --random 1 some.jsonl
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" validate --families graphs some.jsonl
    [ "$status" -eq 2 ]
}

@test "random: shrinking needs a GPU and random traces" {
    run "$GRIDTIDE" validate --random 2 --shrink --measured old.db
    [ "$status" -eq 2 ]
    [[ $output == *"so it needs a GPU: leave out --measured"* ]]
    run "$GRIDTIDE" validate --shrink some.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"--shrink is for traces that --random draws"* ]]
}
