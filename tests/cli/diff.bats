# gridtide diff A.db B.db: what got slower from one run to another.

setup()
{
    command -v jq > /dev/null || skip "no jq"
    cd "$BATS_TEST_TMPDIR"
}

# simulated NAME: a trace from standard input, simulated into NAME.db.
simulated()
{
    cat > "$1.jsonl"
    "$GRIDTIDE" run -q "$1.jsonl" -o "$1.db"
}

# differ [OPTION...]: what `gridtide diff --format json` says of a.db and b.db, in $output.
differ()
{
    run bash -c '"$GRIDTIDE" diff --format json "$@" a.db b.db 2> /dev/null' - "$@"
    [ "$status" -eq 0 ]
}

# Kernels as bars in one stream, one after the other: 100 and 50 us; then 130 (slower), one more of 20 between (added),
# 50. The copy at the end (removed) has no place in the second.
setup_typed()
{
    simulated a << 'END'
{"gridtide":1,"name":"before","device":"h200"}
{"kernel":"k","grid":1,"block":128,"registers":32,"duration_us":100}
{"kernel":"l","grid":1,"block":128,"registers":32,"duration_us":50}
{"call":"launch","kernel":"k","stream":"a"}
{"call":"launch","kernel":"l","stream":"a"}
{"call":"copy","direction":"d2h","bytes":1048576,"memory":"pinned","stream":"a"}
{"call":"device_sync"}
END
    simulated b << 'END'
{"gridtide":1,"name":"after","device":"h200"}
{"kernel":"k","grid":1,"block":128,"registers":32,"duration_us":130}
{"kernel":"l","grid":1,"block":128,"registers":32,"duration_us":50}
{"kernel":"m","grid":1,"block":128,"registers":32,"duration_us":20}
{"call":"launch","kernel":"k","stream":"a"}
{"call":"launch","kernel":"m","stream":"a"}
{"call":"launch","kernel":"l","stream":"a"}
{"call":"device_sync"}
END
}

@test "diff: slower, added and removed operations are told apart" {
    setup_typed
    differ
    jq -e '.diff | .matched == 2 and .added == 1 and .removed == 1' <<< "$output"
    jq -e '[.kernels[] | {kernel, diff_us, slower_us, added_us, removed_us, times_a, times_b}] | sort_by(.kernel) == [
        {"kernel":"k","diff_us":30,"slower_us":30,"added_us":0,"removed_us":0,"times_a":1,"times_b":1},
        {"kernel":"l","diff_us":0,"slower_us":0,"added_us":0,"removed_us":0,"times_a":1,"times_b":1},
        {"kernel":"m","diff_us":20,"slower_us":0,"added_us":20,"removed_us":0,"times_a":0,"times_b":1}]' <<< "$output"
    jq -e '.copies | length == 1 and (.[0] | .operation == "copy d2h" and .times_b == 0 and .removed_us == .a_us and .removed_us > 10)' <<< "$output"
    jq -e '.copied == [{"operation":"copy d2h","memory_a":"pinned","memory_b":null,"bytes_a":1048576,"bytes_b":0,
        "alone_a_us":.copies[0].a_us,"alone_b_us":0}]' <<< "$output"
    jq -e '[.operations[].change] | sort == ["added", "removed", "slower"]' <<< "$output"
    jq -e '.operations[] | select(.change == "slower") | .operation == "k" and .op_a == 0 and .op_b == 0 and .diff_us == 30' \
        <<< "$output"
}

@test "diff: parts add up to the whole" {
    setup_typed
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/pairs/mlp-small.eager.json.gz" -o small.db
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/pairs/mlp-large.eager.json.gz" -o large.db
    for pair in 'a b' 'b a' 'small large' 'large small'; do
        # shellcheck disable=SC2086
        set -- $pair
        run bash -c '"$GRIDTIDE" diff --format json $1.db $2.db 2> /dev/null' - "$1" "$2"
        [ "$status" -eq 0 ]
        jq -e 'def same(a; b): (a - b) | fabs < 0.001;
            (.totals | map({(.time): .diff_us}) | add) as $whole |
            same([.critical_path[].diff_us] | add; $whole["critical-path"]) and
            same([.critical_path_names[].diff_us] | add; $whole["critical-path"]) and
            (.critical_path_operators == [] or
                same([.critical_path_operators[].diff_us] | add; $whole["critical-path"])) and
            same([.kernels[], .copies[] | .diff_us] | add; $whole.operations) and
            same([.kernels[], .copies[] | .slower_us + .added_us - .removed_us] | add; $whole.operations) and
            same([.operations[].diff_us] | add; $whole.operations) and
            same(([.gaps[].diff_us] | add) + $whole["gpu-busy"]; $whole.makespan)' <<< "$output"
    done
    jq -e '(.operators | length > 3) and (.steps | length == 4) and (.critical_path_operators | length > 1)' <<< "$output"
}

@test "diff: a run and itself do not differ" {
    setup_typed
    cp a.db b.db
    differ
    jq -e '(.operations == []) and (.diff.matched == 3) and ([.totals[].diff_us] | all(. == 0))' <<< "$output"
}

@test "diff: measured runs have no causes, and that is said" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-1.json.gz" -o a.db
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" -o b.db
    differ --run measured
    jq -e '.diff.run == "measured" and .critical_path == [] and .gaps[0].cause == "not recorded" and
        (.notes[0].note | test("no causes")) and .diff.matched == 24' <<< "$output"
    jq -e '[.calls[].blocked_a_us] | all(. == null)' <<< "$output"
    setup_typed
    run "$GRIDTIDE" diff --run=measured a.db b.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"a.db: contains no measured run, only a simulated one"* ]]
}

@test "diff: people get at most so many rows, and the others in one" {
    setup_typed
    run "$GRIDTIDE" diff --top 1 a.db b.db
    [ "$status" -eq 0 ]
    for section in diff totals critical_path critical_path_names critical_path_operators gaps kernels copies copied calls steps \
        operators operations notes; do
        grep -qx "$section" <<< "$output"
    done
    [[ "$output" == *"others)"* ]]
    differ --top 1
    jq -e '(.kernels | length == 1 and .[0].kernel == "k") and (.operations | length == 1)' <<< "$output"
    run bash -c '"$GRIDTIDE" diff --format csv a.db b.db 2> /dev/null | grep -c ^kernels,'
    [ "$output" -eq 3 ]
}

@test "diff: two stores it is" {
    setup_typed
    for arguments in '' a.db 'a.db b.db a.db' '--run both a.db b.db' '--top 0 a.db b.db'; do
        # shellcheck disable=SC2086
        run "$GRIDTIDE" diff $arguments
        [ "$status" -eq 2 ]
    done
    run "$GRIDTIDE" diff a.db missing.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"missing.db"* ]]
    echo no store > c.db
    run "$GRIDTIDE" diff a.db c.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"c.db"* ]]
}

@test "diff: damaged runs are refused, with the store's name" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    setup_typed
    for damage in "UPDATE run_op SET end_ps = -5" "UPDATE run_op SET end_ps = start_ps - 1" "DELETE FROM op WHERE op_no = 0" \
        "UPDATE op SET kernel_no = 7 WHERE kind = 'kernel'" "UPDATE op SET stream_no = 9" "DELETE FROM call WHERE call_no = 0" \
        "UPDATE run_op SET wait_host_ps = 'soon'" "DELETE FROM kernel" "UPDATE stream SET gpu_no = 4000000000"; do
        cp a.db bad.db
        sqlite3 bad.db "$damage"
        for pair in 'bad.db b.db' 'b.db bad.db'; do
            # shellcheck disable=SC2086
            run timeout 20 "$GRIDTIDE" diff $pair
            echo "$damage: $status: $output"
            [ "$status" -eq 1 ]
            [[ "$output" == *"bad.db"* ]]
        done
    done
}
