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
