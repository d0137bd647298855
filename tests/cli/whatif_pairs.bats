# What-ifs against programs that were changed for real (traces/pairs), a small part of validate/scripts/whatif.sh.

# figure SORT NAME FIELD: of the lines that whatif.sh printed.
figure() {
    echo "$output" | awk -v sort="$1" -v name="$2" -v field="$3" '$1 == sort && $2 == name { print $field }'
}

@test "kernels of half the time and none, and independent chains in more streams, take what they took" {
    run "$GRIDTIDE_SOURCE/validate/scripts/whatif.sh" layers-uneven chains-wide
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(figure learn refused 3)" -eq 0 ]
    [ "$(figure learn high-signs-wrong 3)" -eq 0 ]
    awk -v worst="$(figure learn high 6)" 'BEGIN { exit !(worst < 5) }'
}

@test "a chain that goes on gains nothing from streams" {
    "$GRIDTIDE" whatif -q -f csv "$GRIDTIDE_SOURCE/traces/pairs/handoff.streams-1.json.gz" --change streams=4 |
        awk -F, '$1 == "changes" && $2 == "streams=4" { exit !($5 == 0) }'
}

@test "a recording with one connection is known by its times, and is otherwise with eight" {
    run "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/many-few-1.run.json.gz" --change connections=8
    [ "$status" -eq 0 ]
    [[ "$output" == *"CUDA_DEVICE_MAX_CONNECTIONS=1, not of 8"* ]]
    # Recorded 2813 us; without a profiler 2696 us with one connection, 1136 us with eight.
    echo "$output" | jq -e '(.replay_us / .measured_us - 1 | fabs) < 0.01 and (.changes[0].predicted_us / 1136 - 1 | fabs) < 0.1'
}

@test "an answer that a slower host would spoil is not graded high" {
    # 36 launches of 4 us take about as long as the kernels that are left: really 10 % longer than said.
    "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/layers-short.all.json.gz" --change 'kernel=layer_mix*0.5' |
        jq -e '.changes[0] | .trust != "high" and any(.assumptions[]; test("longer$"))'
}
