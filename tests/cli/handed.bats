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
