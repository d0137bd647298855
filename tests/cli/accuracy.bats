#!/usr/bin/env bats
# How far replays are from recordings: a change of the model that makes them worse shows here.

load figures_helpers

# The share of files outside a bound, and the worst: checked against what was reached, with some room.
check_summary() {
    echo "$1"
    [[ "$1" =~ ^([0-9]+)\ files:\ makespan\ within\ 3%:\ ([0-9]+),\ within\ 10%:\ ([0-9]+),\ worst\ ([0-9.]+)%\;\ median\ start\ error\ within\ 1%:\ ([0-9]+) ]]
    files=${BASH_REMATCH[1]} within3=${BASH_REMATCH[2]} within10=${BASH_REMATCH[3]} start1=${BASH_REMATCH[5]}
}

@test "the recorded samples replay within their bounds" {
    run "$GRIDTIDE_SOURCE/tests/accuracy.sh" "$GRIDTIDE_SOURCE/traces/samples"
    [ "$status" -eq 0 ]
    check_summary "${lines[-1]}"
    [ "$files" -eq 12 ]
    [ "$within3" -ge 11 ]
    [ "$within10" -eq 12 ]
    [ "$start1" -ge 11 ]
}

@test "recorded branches, copies beside kernels and blocks that end apart replay within their bounds" {
    as_released
    run "$GRIDTIDE_SOURCE/tests/accuracy.sh" "$GRIDTIDE_SOURCE/traces/branches"
    [ "$status" -eq 0 ]
    check_summary "${lines[-1]}"
    [ "$files" -eq 43 ]
    [ "$within3" -ge 40 ]
    [ "$within10" -eq 43 ]
    [ "$start1" -ge 39 ]
}

@test "other people's profiles replay within 3%" {
    as_released
    [ -d "$GRIDTIDE_TRACES" ] || skip "no profiles in $GRIDTIDE_TRACES"
    run "$GRIDTIDE_SOURCE/tests/accuracy.sh" "$GRIDTIDE_TRACES"
    [ "$status" -eq 0 ]
    check_summary "${lines[-1]}"
    [ "$files" -ge 16 ]
    [ "$within3" -eq "$files" ]
    [ "$start1" -eq "$files" ]
}

@test "what one recording says of another number of streams is what was recorded with it" {
    makespan() {
        "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-$1.json.gz" --streams "$2" --independent '*' \
            -o "$BATS_TEST_TMPDIR/run.db"
        "$GRIDTIDE" compare "$BATS_TEST_TMPDIR/run.db" --format csv | tail -1 | cut -d, -f8
    }
    # Recorded: 1989.8, 1117.9 and 889.9 us on 1, 2 and 4 streams. What four streams are put in one with are constants
    # learned from four: gaps between engines, which look for work every 8 us, were 1.1 to 1.5 us longer there, copies 0.4
    # and 1.1 us: that is about half of the 2.8% that it is too long by; what the rest comes from is not known.
    awk -v from4to1="$(makespan 4 1)" -v from4to2="$(makespan 4 2)" -v from1to2="$(makespan 1 2)" 'BEGIN {
        exit !(from4to1 > 1950 && from4to1 < 2060 && from4to2 > 1096 && from4to2 < 1140 && from1to2 > 1062 && from1to2 < 1174) }'
}
