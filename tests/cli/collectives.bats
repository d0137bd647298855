# Collectives of two H200s, held against the simulator without a GPU; what is said of more GPUs than that; a fuzzed line.

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
    [[ "$output" == *"extrapolated: 1 collective uses more than the 2 GPUs that were measured"* ]]
    run "$GRIDTIDE" whatif -q "$BATS_TEST_TMPDIR/t.jsonl" --change launch-cost=2
    [[ "$output" == *"low, extrapolated"*"measured with 2 GPUs; 1 of the trace have more"* ]]
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
