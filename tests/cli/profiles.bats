# The profiled kernels of an H200 against today's warp tier: a change must not make it worse.

load figures_helpers

setup() {
    command -v jq > /dev/null || skip "no jq program"
    folder="$GRIDTIDE_SOURCE/traces/profiles"
    [ -f "$folder/figures.txt" ] || skip "no profiles"
    cd "$BATS_TEST_TMPDIR"
}

@test "profiles: cycles are predicted as well as recorded in traces/profiles/figures.txt" {
    as_released
    "$folder/figures.sh" > now
    worse=$(awk '
        /^#/ { next }
        FNR == NR { launches[$1] = $2; mape[$1] = $3; worst[$1] = $4; pearson[$1] = $5; next }
        { seen[$1] = 1 }
        $2 < launches[$1] || $3 > mape[$1] + 0.1 || (worst[$1] != "-" && $4 > worst[$1] + 0.1) ||
        (pearson[$1] != "-" && $5 < pearson[$1] - 0.001) {
            print $0, ", recorded", launches[$1], mape[$1], worst[$1], pearson[$1]
        }
        END { for (name in launches) { count++; if (!(name in seen)) print name, "is missing" }
              if (count < 8) print count + 0, "figures are recorded" }
    ' "$folder/figures.txt" now)
    [ -z "$worse" ] || { echo "$worse"; cat now; false; }
}

@test "profiles: what fetching ahead gains is as near the medians of traces/profiles/repeats.csv as it was" {
    as_released
    "$folder/gains.sh" > now
    cat now
    awk '{ off = $(NF - 1) < 0 ? -$(NF - 1) : $(NF - 1) }
         /^cp_async/ { count++; near += off <= 5 }
         /^flash/ { count++; near += off <= 5; fair += off <= 10; far += off > 25 }
         END { exit !(count == 11 && near >= 8 && fair >= 4 && far == 0) }' now
}
