# The rules of the scheduler, told by validate and switched off one by one by a script (tests/unit/rules switches off each on
# more traces).

load figures_helpers

setup()
{
    command -v zstd > /dev/null || skip "zstd is not installed"
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

@test "rules: a script says what each is good for" {
    as_released
    "$GRIDTIDE_SOURCE/validate/scripts/rules.sh" 2026 21 > "$BATS_TEST_TMPDIR/rules"
    cat "$BATS_TEST_TMPDIR/rules"
    grep -E '^retire +[0-9]+ +[0-9]+ +0( +[0-9.]+){4} +[0-9]+ +[0-9]+  (holds|doubtful)$' "$BATS_TEST_TMPDIR/rules"
    grep -E '^block-spread +0 +0 +0( +-){4} +0 +0  unseen$' "$BATS_TEST_TMPDIR/rules"
    grep -E '^default-stream .* fixed$' "$BATS_TEST_TMPDIR/rules"
    [ "$(wc -l < "$BATS_TEST_TMPDIR/rules")" -gt 30 ]
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
