# Collectives of two H200s, held against the simulator without a GPU; what is said of more GPUs than that; a fuzzed line.

load figures_helpers

@test "collectives: times by kind and size are as far off as they were" {
    "$GRIDTIDE_SOURCE/validate/scripts/collectives.py" > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    # What validate/README.md says, and a little more.
    awk '{ most = $1 == "fitted" ? 0.8 : 2.6; tail = $1 == "fitted" ? 7 : 10 }
        $3 > most || $4 > tail { print $1, "is", $3, $4, "and was less than", most, tail; worse = 1 }
        { cases += $2 }
        END { exit worse || NR != 5 || cases < 800 }' "$BATS_TEST_TMPDIR/figures"
}

world() {
    {
        echo '{"gridtide":1,"name":"t","device":"h200"}'
        echo '{"group":"world","gpus":[0,1,2,3]}'
        echo '{"kernel":"sum","collective":"all_reduce","group":"world","bytes":67108864}'
        for gpu in 0 1 2 3; do echo "{\"stream\":\"s$gpu\",\"gpu\":$gpu}"; done
        for gpu in 0 1 2 3; do echo "{\"call\":\"launch\",\"kernel\":\"sum\",\"stream\":\"s$gpu\"}"; done
    } > "$BATS_TEST_TMPDIR/t.jsonl"
}

@test "collectives: more GPUs than were measured are called extrapolated" {
    world
    run "$GRIDTIDE" run "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
    [ "$status" -eq 0 ]
    [[ "$output" == *"collectives-extrapolated"*"NVLS"* ]]
    [[ "$output" == *"extrapolated: 1 collective is of more than the 2 GPUs that were measured"* ]]
    run "$GRIDTIDE" whatif -q "$BATS_TEST_TMPDIR/t.jsonl" --change launch-cost=2
    [[ "$output" == *"low, extrapolated"*"measured with 2 GPUs, and 1 of the trace are of more"* ]]
    sed -i 's/0,1,2,3/0,1/; /"s[23]"/d' "$BATS_TEST_TMPDIR/t.jsonl"
    run "$GRIDTIDE" run "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/u.db"
    [ "$status" -eq 0 ]
    [[ "$output" != *"extrapolated"* ]]
}

@test "collectives: a trace cut off anywhere, or with a byte changed, is read or refused and nothing else" {
    world
    size=$(wc -c < "$BATS_TEST_TMPDIR/t.jsonl")
    for at in $(seq 40 23 "$size"); do
        head -c "$at" "$BATS_TEST_TMPDIR/t.jsonl" > "$BATS_TEST_TMPDIR/cut.jsonl"
        run "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/cut.jsonl" -o "$BATS_TEST_TMPDIR/cut.db"
        [ "$status" -le 1 ] || { echo "$at: $status $output"; false; }
        { head -c "$at" "$BATS_TEST_TMPDIR/t.jsonl"; printf '7'; tail -c +$((at + 2)) "$BATS_TEST_TMPDIR/t.jsonl"; } > "$BATS_TEST_TMPDIR/cut.jsonl"
        run timeout 20 "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/cut.jsonl" -o "$BATS_TEST_TMPDIR/cut.db"
        [ "$status" -le 1 ] || { echo "$at: $status $output"; false; }
    done
}

@test "collectives: 60 traces that two H200s played with NCCL are predicted as well as they were" {
    as_released
    command -v zstd > /dev/null || skip "no zstd"
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    "$GRIDTIDE_SOURCE/validate/scripts/handed.sh" collectives > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    # What validate/README.md says, and a little more.
    awk '{ most = $1 ~ /sizes/ ? 6 : $1 ~ /late/ ? 0.6 : $1 ~ /buckets/ ? 1.5 : 5 }
        $2 != 15 || $3 > most { print $1, "is", $3, "and was less than", most; worse = 1 }
        END { exit worse || NR != 4 }' "$BATS_TEST_TMPDIR/figures"
}

@test "collectives: beside copies and busy memory, and one way, 57 traces of two H200s are predicted as well as they were" {
    as_released
    command -v zstd > /dev/null || skip "no zstd"
    command -v sqlite3 > /dev/null || skip "no sqlite3"
    "$GRIDTIDE_SOURCE/validate/scripts/handed.sh" traffic > "$BATS_TEST_TMPDIR/figures"
    cat "$BATS_TEST_TMPDIR/figures"
    # What validate/README.md says of the GPU's part, and a little more.
    awk '{ most = $1 ~ /copies/ ? 2.3 : $1 ~ /memory/ ? 6 : 0.8; tail = $1 ~ /copies/ ? 11 : $1 ~ /memory/ ? 17 : 2 }
        $6 > most || $7 > tail { print $1, "is", $6, $7, "and was less than", most, tail; worse = 1 }
        END { exit worse || NR != 3 }' "$BATS_TEST_TMPDIR/figures"
}
