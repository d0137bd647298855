# How much kernels slow each other down, against what an H200 showed (validate/recordings/pairs.db).

load figures_helpers

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to look into stores with"
}

@test "pairs: kernels slow each other down as they did on an H200" {
    as_released
    "$GRIDTIDE_SOURCE/validate/scripts/pairs.sh" > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    # figure NAME NUMBER MEDIAN MEAN
    awk '$1 == "figure" && $2 == "slower" { found++; good += $3 == 68 && $4 <= 7 && $5 <= 20 }
         $1 == "figure" && $2 == "makespan" { found++; good += $3 == 34 && $4 <= 10 && $5 <= 14 }
         END { exit !(found == 2 && good == 2) }' "$BATS_TEST_TMPDIR/figures"
}
