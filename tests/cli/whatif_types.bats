# whatif dtype=TYPE: a model in another precision.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/shapes/fresh
}

# typed: a step that adds two tensors of 16 M floats in 48.8 us on an H200, and one that casts them.
typed() {
    echo '{"gridtide":1,"name":"typed","device":"h200"}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16,"duration_us":48.8}'
    echo '{"kernel":"bfloat16_copy_kernel","grid":32768,"block":128,"registers":16,"duration_us":25}'
    echo '{"range":"aten::add","calls":1,"inputs":"float32[16,1048576] float32[16,1048576]"}'
    echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","duration_us":3}'
    echo '{"range":"aten::to","calls":1,"inputs":"float32[16,1048576]"}'
    echo '{"range":"aten::copy_","calls":1,"inputs":"bfloat16[16,1048576] float32[16,1048576]"}'
    echo '{"call":"launch","kernel":"bfloat16_copy_kernel","stream":"s","duration_us":3}'
}

# kernels STORE: how long the kernels of the last run took, one a line.
kernels() {
    sqlite3 "$1" "select round((end_ps - start_ps) / 1e6, 1) from run_op where run_id = (select max(run_id) from run) order by start_ps"
}

@test "half the bytes take half as long, and a cast to the same type goes" {
    # tests/unit/shapes.c has 24.9 us by hand.
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change dtype=fp32:bf16 -o typed.db > answer.json
    [ "$(kernels typed.db)" = 24.9 ]
    jq -e '.changes[0].assumptions | any(contains("float32 inputs of operators become bf16"))' answer.json
    jq -e '.changes[0].assumptions | any(startswith("1 launches that convert to the same type are left out"))' answer.json
}

@test "types and sizes compose, in either order" {
    # 4 times the elements of half the bytes: 2 * 47.8 + 0.95, and what is left of the rest.
    typed | head -n 5 | sed '4i{"range":"aten::linear","calls":0,"inputs":"float32[16,64] float32[8,64]"}' > typed.jsonl
    "$GRIDTIDE" whatif -q typed.jsonl --change dtype=bf16 --change batch=64 -o one.db
    "$GRIDTIDE" whatif -q typed.jsonl --change batch=64 --change dtype=bf16 -o other.db
    [ "$(kernels one.db)" = "$(kernels other.db)" ]
    awk -v us="$(kernels one.db)" 'BEGIN { exit !(us > 96 && us < 97.5) }'
}

@test "another type of as many bytes, and the recorded one, change nothing" {
    for type in fp16 bf16; do
        "$GRIDTIDE" whatif -q -f json "$recorded/mistral.json.gz" --change dtype=$type > answer.json
        jq -e '.changes[0].change_pct | . < 0.01 and . > -0.01' answer.json
    done
    # Parts of that model are float32, by its code.
    jq -e '.changes[0].assumptions | any(contains("float32 inputs stay"))' answer.json
}

@test "fp32 takes longer than tf32, tf32 longer than bf16, bf16 longer than fp8" {
    for type in fp32 tf32 bf16 fp8; do
        "$GRIDTIDE" whatif -q -f json "$recorded/mistral.json.gz" --change batch=64 --change dtype=$type | jq '.changes[0].step_us' >> times
    done
    sort -rg times | cmp - times
}

@test "an optimiser's parameters follow the model, not autocast" {
    "$GRIDTIDE" whatif -q -f json "$recorded/bert-train.json.gz" --change dtype=bf16 > answer.json
    jq -e '.changes[0].assumptions | any(contains("state have 0.5 times as many bytes"))' answer.json
    jq -e '.changes[0].assumptions | any(contains("Fused attention"))' answer.json
    "$GRIDTIDE" whatif -q -f json "$recorded/bert-train.json.gz" --change dtype=tf32 > answer.json
    jq -e '.changes[0].assumptions | any(contains("what the optimiser does with them, stay"))' answer.json
}

@test "types that are none, or not there, are refused" {
    typed > typed.jsonl
    for wrong in int8 bf16: :bf16 fp8:bf16 BF16; do
        run "$GRIDTIDE" whatif -q typed.jsonl --change "dtype=$wrong"
        [ "$status" -ne 0 ]
        [[ "$output" == *"it takes bf16, fp16, fp32, tf32 or fp8"* || "$output" == *"has no value"* ]]
    done
    typed | sed 's/float32/float64/g; s/bfloat16\[/int64[/' > double.jsonl
    run "$GRIDTIDE" whatif -q double.jsonl --change dtype=bf16
    [ "$status" -eq 1 ]
    [[ "$output" == *"no operator has inputs of bfloat16, float16 or float32"* ]]
    typed | sed 's/"h200"/"a100"/' > a100.jsonl
    run "$GRIDTIDE" whatif -q a100.jsonl --change dtype=fp8
    [ "$status" -eq 1 ]
    [[ "$output" == *"no tensor cores for FP8"* ]]
}
