# Random traces recorded on H200s, simulated anew; how near they come is in tests/accuracy.

setup()
{
    command -v zstd > /dev/null || skip "zstd is not installed"
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

@test "random: what was recorded is of the traces that the seed draws today" {
    cd "$BATS_TEST_TMPDIR"
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-1122.db.zst" -o measured.db
    [ "$(sqlite3 measured.db 'SELECT count(*) FROM trace')" -eq 1050 ]
    "$GRIDTIDE" validate -q --random 21 --draw-seed 1122 --repeat 2 --measured measured.db --blocks off -o now.db \
        --table rules -f csv > rules.csv
    [ "$(head -n 1 rules.csv)" = $'rule,traces,says,off,file\r' ]
    [ "$(wc -l < rules.csv)" -gt 20 ]
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

@test "random: pairs and triples are drawn of a list of kernels, the same today as when they were recorded" {
    run "$GRIDTIDE" validate --random 1 --families graphs,pairs
    [ "$status" -eq 1 ]
    [[ $output == *"give --kernels=TRACE"* ]]
    run "$GRIDTIDE" validate --random 1 --kernels some.jsonl
    [ "$status" -eq 1 ]
    [[ $output == *"--kernels is for --families=pairs and triples"* ]]
    run "$GRIDTIDE" validate --kernels some.jsonl other.jsonl
    [ "$status" -eq 2 ]
    cd "$BATS_TEST_TMPDIR"
    zstd -dcq "$GRIDTIDE_SOURCE/validate/recordings/pairs-h200-2718.tar.zst" | tar -x --strip-components=1
    "$GRIDTIDE" validate -q --random 4 --draw-seed 2718 --families pairs,triples --kernels kernels.jsonl --repeat 3 --measured measured.db \
        --blocks off -o now.db
    [ "$(sqlite3 now.db "SELECT count(*) FROM run WHERE kind = 'measured'")" -eq 12 ]
    "$GRIDTIDE_SOURCE/validate/scripts/pair_gains.py" now.db "*/triples-*" > gains
    grep -q '^figure alone 6 ' gains && grep -q '^figure makespan 6 ' gains && grep -q '^figure gain 4 ' gains
}

@test "random: shrinking needs a GPU and random traces" {
    run "$GRIDTIDE" validate --random 2 --shrink --measured old.db
    [ "$status" -eq 2 ]
    [[ $output == *"so it needs a GPU: leave out --measured"* ]]
    run "$GRIDTIDE" validate --shrink some.jsonl
    [ "$status" -eq 2 ]
    [[ $output == *"--shrink needs --random=N"* ]]
}
