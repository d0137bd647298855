# gridtide import xplane: a profile of JAX or TensorFlow comes in and answers.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$GRIDTIDE_SOURCE/tests/fuzz/samples/step.xplane.pb" .
}

@test "the format is found by the bytes, named or not, packed or not" {
    run "$GRIDTIDE" import step.xplane.pb -o plain.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"(xplane)"*"operations  6: 4 kernels, 1 copies, 1 memsets"*"device      h200"* ]]
    gzip -c step.xplane.pb > packed
    "$GRIDTIDE" import -q xplane packed -o packed.jsonl
    cmp <(sed 1d plain.jsonl) <(sed 1d packed.jsonl)
    "$GRIDTIDE" import -q - -o piped.jsonl < step.xplane.pb
    cmp <(sed 1d plain.jsonl) <(sed 1d piped.jsonl)
    "$GRIDTIDE" import -q plain.jsonl -o again.jsonl
    cmp plain.jsonl again.jsonl
}

@test "the sample is what its script writes" {
    command -v python3 > /dev/null || skip "no python3"
    python3 "$GRIDTIDE_SOURCE/tests/data/xplane.py" made.pb
    cmp made.pb step.xplane.pb
}

# From the copy's start at 1 us to the memset's end at 29 us.
@test "run replays it; operators of XLA and TensorFlow are in the statistics" {
    run "$GRIDTIDE" run step.xplane.pb -o run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"makespan_measured_us  28.000"* ]]
    run "$GRIDTIDE" stats run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"fusion.3"* ]]
    [[ "$output" == *"train#3"* ]]
    run "$GRIDTIDE" whatif -q step.xplane.pb --change graph
    [ "$status" -eq 0 ]
}

@test "what is broken is one line that names the file and the byte" {
    for bytes in 0 1 2 30 500 1500 1870; do
        head -c $bytes step.xplane.pb > cut.pb
        run timeout 20 "$GRIDTIDE" import xplane cut.pb -o no.jsonl
        echo "$bytes: $output"
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" == "gridtide: cut.pb: "* ]]
        [ ! -e no.jsonl ]
    done
    head -c 10000000 /dev/zero | gzip > zeros.gz
    run timeout 20 "$GRIDTIDE" import xplane zeros.gz -o no.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: zeros.gz: byte 0: no field with a length begins here"* ]]
    run "$GRIDTIDE" import xplane missing.pb
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: missing.pb: "* ]]
}

# Counts and times are those of JAX's reader (tests/data/xplane/README.md).
@test "recordings of the CPU keep what the host did, and say what is missing" {
    for sums in "jax-0.10.2 294: 4 steps, 12 operators, 278 annotations" \
        "tensorflow-2.15.1 191: 3 steps, 63 operators, 125 annotations"; do
        file=$GRIDTIDE_SOURCE/tests/data/xplane/cpu-${sums%% *}.xplane.pb
        run "$GRIDTIDE" import xplane "$file" -o cpu.jsonl
        [ "$status" -eq 0 ]
        [[ "$output" == *"warning: no-gpu-plane: "*"operations  0: "*"ranges      ${sums#* }"* ]]
        [[ "$output" != *"device-unknown"* ]]
        [[ "$output" != *"no-gpu-work"* ]]
        for command in run explain "whatif --change graph"; do
            run "$GRIDTIDE" $command cpu.jsonl
            [ "$status" -eq 1 ]
            [ "$output" = "gridtide: cpu.jsonl: the trace has ranges of the host alone, no call and no operation: there is nothing to simulate; record a program that uses a GPU" ]
        done
    done
    grep -q '"thread":"tf_Compute/-1681737840"' cpu.jsonl
    # From 42193 ns, where the first step begins: the loop's first sum begins at 348817.
    grep -q '"range":"while/body/_1/while/add_1:AddV2","thread":"tf_Compute/-1681737840","start_ns":306624,"duration_ns":791' cpu.jsonl
}

# Counts, times and sizes below are those of JAX's reader.
recorded() {
    "$GRIDTIDE" import -q xplane "$GRIDTIDE_SOURCE/tests/data/xplane/h200-jax-0.11.2-$1.xplane.pb" -o $1.jsonl
}

# Node 0 runs from 63442 ns after the launch's call, for 25632; node 1 from 84690 for 29216, so that it waits until 89074: 24832 are
# its own.
@test "a kernel that starts early waits for the end of the one ahead, and the replay is as long as the recording" {
    recorded matmul-chain
    grep -q '"call":"graph_launch","name":"cuGraphLaunch",.*"nodes":\[{"kind":"kernel","kernel":"gemm_fusion_dot_general_8","start_ns":63442,"duration_ns":25632},{"kind":"kernel","kernel":"gemm_fusion_dot_general_9","start_ns":89074,"duration_ns":24832}' matmul-chain.jsonl
    head -n 1 matmul-chain.jsonl | grep -q '"kind":"early-starts","count":28'
    head -n 1 matmul-chain.jsonl | grep -q '"kind":"waits-missing","count":1'
    run "$GRIDTIDE" run matmul-chain.jsonl -o matmul-chain.db
    [[ "$output" == *"makespan_measured_us  846.716"*"makespan_error_pct    0.000"* ]]
}

# Each of four steps sends 8 MiB and fetches 1 MiB, by threads of XLA's; three kernels of three operators, which have annotations.
@test "copies, kernels and operators of a recording of JAX" {
    recorded host-copies
    [ "$(grep -c '"direction":"h2d","bytes":8388608' host-copies.jsonl)" -eq 4 ]
    [ "$(grep -c '"direction":"d2h","bytes":1048576' host-copies.jsonl)" -eq 4 ]
    grep -q '"call":"copy","thread":"pjrt_async_work_runner/-7773856212418920345","stream":15,"start_ns":0,"duration_ns":25665,"direction":"h2d","bytes":8388608,"op_start_ns":20089,"op_duration_ns":161216,"correlation":1' host-copies.jsonl
    for operator in custom-call.1 wrapped_tanh loop_reduce_fusion; do
        [ "$(grep -c "{\"range\":\"$operator\",\"thread\"" host-copies.jsonl)" -eq 4 ]
    done
    # Neither CUPTI's own time nor calls that are named after their kernels.
    [ "$(grep -c 'UNKNOWN\|"name":"wrapped_tanh"\|"range":"Memory' host-copies.jsonl)" -eq 0 ]
    run "$GRIDTIDE" run host-copies.jsonl -o host-copies.db
    [[ "$output" == *"makespan_error_pct    0.000"* ]]
}

# 32 allocations and 26 frees of the GPU's allocator, 97109504 bytes at once.
@test "allocations of a recording of JAX" {
    recorded mlp-train
    grep '"allocations"' mlp-train.jsonl | grep -q '"bytes":\[4194304,4194304,65536,4096,4096,256,256,67108864,-256,-67108864,'
    run "$GRIDTIDE" whatif -q mlp-train.jsonl --change graph
    [ "$status" -eq 0 ]
    [[ "$output" == *"peak_memory_gib     0.090"* ]]
    run "$GRIDTIDE" explain mlp-train.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"3 steps of"* ]]
}
