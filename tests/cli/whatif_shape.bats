# whatif shape=OPERATOR:DIMS: one operator with inputs of other sizes.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/shapes/fresh
}

# typed: an addition in a layer, and one outside, of two tensors of 16 M floats in 48.8 us each on an H200.
typed() {
    echo '{"gridtide":1,"name":"typed","device":"h200"}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16,"duration_us":48.8}'
    echo '{"range":"layer.0","calls":1}'
    for _ in 1 2; do
        echo '{"range":"aten::add","calls":1,"inputs":"float32[16,1048576] float32[16,1048576]"}'
        echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","duration_us":3}'
    done
}

# kernels STORE: how long the kernels of the last run took, in one line.
kernels() {
    sqlite3 "$1" "select round((end_ps - start_ps) / 1e6, 1) from run_op where run_id = (select max(run_id) from run) order by start_ps" | xargs
}

@test "calls of the operator follow, by pattern, and under a range alone" {
    # tests/unit/shapes.c has 192.3 us by hand.
    typed > typed.jsonl
    for operator in aten::add add 'aten::a*'; do
        "$GRIDTIDE" whatif -q -f json typed.jsonl --change "shape=$operator:64x1048576,64x_" -o all.db > all.json
        [ "$(kernels all.db)" = "192.3 192.3" ]
        jq -e '.changes[0].assumptions | any(startswith("2 calls of"))' all.json
        jq -e '.changes[0].assumptions | any(contains("All other operators stay as recorded"))' all.json
        rm all.db
    done
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change 'shape=layer.*>add:64x_,64x_' -o one.db > one.json
    [ "$(kernels one.db)" = "192.3 48.8" ]
    jq -e '.changes[0].assumptions | any(startswith("1 calls of"))' one.json
}

@test "the recorded sizes change nothing" {
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change 'shape=add:16x1048576,_' > answer.json
    jq -e '.changes[0].change_pct | . < 0.001 and . > -0.001' answer.json
}

@test "what does not fit is refused with what to do" {
    typed > typed.jsonl
    for wrong in add add: :64 add:0x1 add:64x add:64,, add:99999999999999999999 aten::add; do
        run "$GRIDTIDE" whatif -q typed.jsonl --change "shape=$wrong"
        [ "$status" -eq 1 ]
        [[ "$output" == *"OPERATOR:DIMS"* || "$output" == *"with as many sides"* ]]
    done
    run "$GRIDTIDE" whatif -q typed.jsonl --change shape=mm:4x4,4x4
    [ "$status" -eq 1 ]
    [[ "$output" == *"no operator with recorded inputs has the name 'mm'"* ]]
    run "$GRIDTIDE" whatif -q "$recorded/bert-train.json.gz" --change shape=addmm:_,4096x512,500x_
    [ "$status" -eq 1 ]
    [[ "$output" == *"cannot multiply matrices of 512 columns and 500 rows"* ]]
    run "$GRIDTIDE" whatif -q "$recorded/bert-train.json.gz" --change shape=aten::linear:16x64x1024
    [ "$status" -eq 1 ]
    [[ "$output" == *"launches nothing itself; operators that it calls do, such as 'aten::addmm'"* ]]
}

@test "a convolution keeps its strides, and its time follows the product that it is" {
    {
        echo '{"gridtide":1,"name":"convolved","device":"h200"}'
        echo '{"kernel":"sm90_xmma_fprop_implicit_gemm_f16f16_f16f32","grid":132,"block":128,"registers":16,"duration_us":40}'
        echo '{"range":"aten::cudnn_convolution","calls":1,"inputs":"float16[32,256,56,56] float16[256,256,3,3] (1,1) (2,2) (1,1) 1"}'
        echo '{"call":"launch","kernel":"sm90_xmma_fprop_implicit_gemm_f16f16_f16f32","stream":"s","duration_us":3}'
    } > convolved.jsonl
    "$GRIDTIDE" whatif -q convolved.jsonl --change 'shape=cudnn_convolution:_x_x112x112' -o images.db
    inputs=$(sqlite3 images.db "select inputs from range_inputs where trace_id = (select max(trace_id) from trace)")
    [ "$inputs" = 'float16[32,256,112,112] float16[256,256,3,3] (1,1) (2,2) (1,1) 1' ]
    # 32 x 28 x 28 places by 256 channels and 2304 weights take 40 us, near what cuBLAS takes: four times as many four times that, beyond a
    # start of 0.95 us, however few blocks the kernel has
    [[ "$(kernels images.db)" =~ ^1(5[5-9]|6[0-5])\. ]]
    "$GRIDTIDE" whatif -q convolved.jsonl --change batch=32:64 -o batch.db
    inputs=$(sqlite3 batch.db "select inputs from range_inputs where trace_id = (select max(trace_id) from trace)")
    [ "$inputs" = 'float16[64,256,56,56] float16[256,256,3,3] (1,1) (2,2) (1,1) 1' ]
    [[ "$(kernels batch.db)" =~ ^(7[7-9]|8[0-3])\. ]]
}
