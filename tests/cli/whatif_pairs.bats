# What-ifs against programs that were changed for real (traces/pairs), a small part of validate/scripts/whatif.sh.

@test "what streams gain where nobody knows what is independent is not known" {
    # Nothing says whether its links depend on each other: the answer is not known, between none of the gain and all.
    "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/handoff.streams-1.json.gz" --change streams=4 |
        jq -e '.step_us as $now | .changes[0] | .step_us == null and .low_us < 0.5 * $now and .high_us >= $now'
}

@test "a recording with one connection is known by its times, and is otherwise with eight" {
    run "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/many-few-1.run.json.gz" --change connections=8
    [ "$status" -eq 0 ]
    [[ "$output" == *"CUDA_DEVICE_MAX_CONNECTIONS=1, not 8"* ]]
    # Recorded 2813 us; without a profiler 2696 us with one connection, 1136 us with eight.
    echo "$output" | jq -e '(.replay_us / .measured_us - 1 | fabs) < 0.01 and (.changes[0].predicted_us / 1136 - 1 | fabs) < 0.1'
}

@test "an answer that a slower host would spoil is not graded high" {
    # 36 launches of 4 us take about as long as the kernels that are left: really 10 % longer than said.
    "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/layers-short.all.json.gz" --change 'kernel=layer_mix*0.5' |
        jq -e '.changes[0] | .trust != "high" and .high_us > 1.1 * .step_us'
}

@test "a stream that went before the others is known by its times, and is otherwise without a priority" {
    run "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/priority-quiet.urgent.json.gz" --change priority=15:0
    [ "$status" -eq 0 ]
    [[ "$output" == *"stream 15 at a higher priority than the others, though the profile has no priorities"* ]]
    # 414 us a step as recorded, 431 where both streams have the same priority.
    echo "$output" | jq -e '(.replay_us / .measured_us - 1 | fabs) < 0.01 and .changes[0].change_pct > 2'
}

@test "a host whose launches take long under the profiler is taken to be slowed down the more" {
    # 1,902 us a step as recorded, 613 alone: with the mean alone it would be 868.
    "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/towers-eager.streams-1.json.gz" --change streams=1 |
        jq -e '.step_us < 850'
}

@test "where tensor cores are at work most of the time the clock may fall: not graded high" {
    "$GRIDTIDE" whatif -q -f json "$GRIDTIDE_SOURCE/traces/pairs/no-sigmoid.all.json.gz" --change remove=sigmoid |
        jq -e '.changes[0] | .trust != "high" and any(.assumptions[]; test("^Tensor cores work"))'
}
