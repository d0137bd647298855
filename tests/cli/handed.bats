# Work that the GPU hands out itself, as H200s played it: the model must not become worse than it is.
@test "handed out: kernels that blocks launch, grids that meet, threads that poll" {
    command -v zstd > /dev/null || skip "no zstd"
    "$GRIDTIDE_SOURCE/validate/scripts/handed.sh" children meetings > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    # What validate/README.md says, and a little more.
    awk '{ most = $1 == "children/all" ? 1.3 : $1 ~ /polls|chain$|barriers|waves/ ? 1.3 : 4 }
        $3 > most { print $1, "is", $3, "and was less than", most; worse = 1 }
        END { exit worse || NR < 8 }' "$BATS_TEST_TMPDIR/figures"
}

@test "handed out: the families tasks, children and meetings of random traces" {
    command -v zstd > /dev/null || skip "no zstd"
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    "$GRIDTIDE_SOURCE/validate/scripts/handed.sh" drawn > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    awk '{ most = $1 == "drawn/tasks" ? 0.6 : 1.7; tail = $1 == "drawn/meetings" ? 12.5 : $1 == "drawn/tasks" ? 4.8 : 7 }
        $2 != 100 || $3 > most || $4 > tail { print $1, "is", $3, $4, "and was less than", most, tail; worse = 1 }
        END { exit worse || NR != 3 }' "$BATS_TEST_TMPDIR/figures"
}
