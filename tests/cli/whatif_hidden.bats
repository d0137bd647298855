# whatif hidden=N: layers of another width.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/shapes/fresh
}

# typed: a step that adds two tensors of 16 M floats, of width 1024, in 48.8 us on an H200, and an optimiser's kernel of 48.8 us.
typed() {
    echo '{"gridtide":1,"name":"typed","device":"h200"}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16,"duration_us":48.8}'
    echo '{"kernel":"multi_tensor_apply_kernel","grid":320,"block":512,"registers":32,"duration_us":48.8}'
    echo '{"range":"aten::linear","calls":0,"inputs":"float32[16,1024,1024] float32[4096,1024] float32[4096]"}'
    echo '{"range":"aten::linear","calls":0,"inputs":"float32[16,1024,4096] float32[1024,4096] float32[1024]"}'
    echo '{"range":"aten::add","calls":1,"inputs":"float32[16,1024,1024] float32[16,1024,1024]"}'
    echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","duration_us":3}'
    echo '{"range":"Optimizer.step#Adam.step","calls":1}'
    echo '{"call":"launch","kernel":"multi_tensor_apply_kernel","stream":"s","duration_us":3}'
}

# kernels STORE: how long the kernels of the last run took, in one line.
kernels() {
    sqlite3 "$1" "select round((end_ps - start_ps) / 1e6, 1) from run_op where run_id = (select max(run_id) from run) order by start_ps" | xargs
}

@test "activations follow the width, parameters its square" {
    # Four times as wide: 192.3 us, by hand in tests/unit/shapes.c.  Parameters: 2 * 16 * 1024 * 4096 + 4 * (1024 + 4096) of them in place of
    # 2 * 1024 * 4096 + 1024 + 4096 are 15.99 times as many: 0.95 + 47.85 * 15.99 us.
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change hidden=4096 -o typed.db > answer.json
    [ "$(kernels typed.db)" = "192.3 766.2" ]
    jq -e '.changes[0].assumptions | any(contains("recorded width of the model is 1024, by the inputs"))' answer.json
    jq -e '.changes[0].assumptions | any(contains("state have 16 times as many bytes"))' answer.json
    # Stated, it is no assumption of ours; the recorded one changes nothing.
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change hidden=1024:1024 > same.json
    jq -e '.changes[0].change_pct | . < 0.001 and . > -0.001' same.json
    jq -e '.changes[0].assumptions | any(contains("recorded width of the model is 1024; it becomes 1024"))' same.json
}

@test "a batch and a width compose" {
    # Twice the batch and twice the width: four times the bytes.
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q typed.jsonl --change hidden=2048 --change batch=32 -o both.db
    [[ "$(kernels both.db)" == "192.3 "* ]]
}

@test "what is in no whole proportion is rounded, and told" {
    "$GRIDTIDE" whatif -q -f json "$recorded/mistral.json.gz" --change hidden=2048 > answer.json
    jq -e '.changes[0].trust == "low"' answer.json
    jq -e '.changes[0].assumptions | any(contains("number of heads of 4 becomes 5"))' answer.json
    jq -e '.changes[0].assumptions | any(contains("inner size of 4096 becomes 5464"))' answer.json
    "$GRIDTIDE" whatif -q -f json "$recorded/mistral.json.gz" --change hidden=3072 > answer.json
    jq -e '.changes[0].assumptions | any(contains("no whole proportion")) | not' answer.json
}

@test "a width that nothing has is refused" {
    typed > typed.jsonl
    run "$GRIDTIDE" whatif -q typed.jsonl --change hidden=999:1024
    [ "$status" -eq 1 ]
    [[ "$output" == *"hidden=999:1024: no operator's input follows a recorded width of the model of 999"* ]]
    grep -v linear typed.jsonl > none.jsonl
    run "$GRIDTIDE" whatif -q none.jsonl --change hidden=2048
    [ "$status" -eq 1 ]
    [[ "$output" == *"state it: hidden=RECORDED:N"* ]]
    run "$GRIDTIDE" whatif -q typed.jsonl --change hidden=wide
    [ "$status" -eq 1 ]
    [[ "$output" == *"'wide' is no size"* ]]
}
