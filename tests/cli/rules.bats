# Every rule of the scheduler matters to somebody: random traces recorded on an H200, simulated without each of them in turn.
# Takes as long as 30 replays of 210 traces.

setup()
{
    command -v zstd > /dev/null || skip "zstd is not installed"
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

@test "rules: switched off one by one, each is noticed by random traces" {
    "$GRIDTIDE_SOURCE/validate/scripts/rules.sh" 2026 210 > "$BATS_TEST_TMPDIR/rules"
    cat "$BATS_TEST_TMPDIR/rules"
    # Rules that no random trace can show: of recorded programs, and of more work at once than is drawn.
    [ "$(awk '$NF == "unseen" { print $1 }' "$BATS_TEST_TMPDIR/rules" | sort | xargs)" = "block-spread launch-queue resident-grids" ]
    # CUDA's own rule has no key.
    [ "$(awk '$NF == "fixed" { print $1 }' "$BATS_TEST_TMPDIR/rules" | xargs)" = default-stream ]
    ! grep -q ' unnoticed$' "$BATS_TEST_TMPDIR/rules"
    # One that changes a makespan has been counted there.
    [ "$(awk 'NR > 1 { silent += $4 } END { print silent }' "$BATS_TEST_TMPDIR/rules")" -eq 0 ]
}

@test "rules: what fired is told for people and for programs, and is in the store" {
    cd "$BATS_TEST_TMPDIR"
    zstd -q -d "$GRIDTIDE_SOURCE/validate/recordings/random-2026.db.zst" -o measured.db
    "$GRIDTIDE" validate --random 7 --draw-seed 2026 --repeat 2 --measured measured.db --blocks off -o now.db > table
    grep -E '^retire +[1-7] blocks that end together' table
    "$GRIDTIDE" validate --random 7 --draw-seed 2026 --repeat 2 --measured measured.db --blocks off -f json -o again.db > json
    told=$(sqlite3 :memory: "SELECT value->>'traces' FROM json_each(readfile('json'), '\$.rules') WHERE value->>'rule' = 'retire'")
    [ "$told" -eq "$(sqlite3 now.db "SELECT count(*) FROM counter JOIN run USING (run_id)
        WHERE name = 'rule.retire' AND options NOT LIKE '%host=measured%'")" ]
}
