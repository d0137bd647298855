# How far kernels are from the roofline, by the inputs of their operators.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    fresh=$GRIDTIDE_SOURCE/traces/shapes/fresh
}

# made > FILE: a product with a kernel that sums up for it, a sum of two tensors from DRAM, one from L2, an operator that nobody knows.
made() {
    echo '{"gridtide":1,"name":"made","device":"h200"}'
    echo '{"kernel":"nvjet_sm90_tst_128x128","grid":1024,"block":128,"registers":32}'
    echo '{"kernel":"cublasLt::splitKreduce_kernel","grid":1024,"block":128,"registers":32}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16}'
    echo '{"kernel":"elementwise_kernel","grid":4096,"block":128,"registers":16}'
    echo '{"kernel":"roi_align_forward","grid":4096,"block":128,"registers":16}'
    echo '{"range":"aten::mm","calls":2,"inputs":"float16[4096,4096] float16[4096,4096]"}'
    echo '{"call":"launch","kernel":"nvjet_sm90_tst_128x128","stream":"s","op_duration_us":200}'
    echo '{"call":"launch","kernel":"cublasLt::splitKreduce_kernel","stream":"s","op_duration_us":50}'
    echo '{"range":"aten::add","calls":1,"inputs":"float32[16777216] float32[16777216]"}'
    echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","op_duration_us":50}'
    echo '{"range":"aten::mul","calls":1,"inputs":"float32[2097152] float32[2097152]"}'
    echo '{"call":"launch","kernel":"elementwise_kernel","stream":"s","op_duration_us":5}'
    echo '{"range":"torchvision::roi_align","calls":1,"inputs":"float32[16777216] float32[16777216]"}'
    echo '{"call":"launch","kernel":"roi_align_forward","stream":"s","op_duration_us":30}'
}

# explained STORE > FILE: the tables as JSON.
explained() {
    "$GRIDTIDE" explain -q --no-predict --format json "$1"
}

@test "explain: operations and bytes a second, and the distance from the roofline" {
    made > made.jsonl
    "$GRIDTIDE" run -q made.jsonl -o made.db
    explained made.db > answer.json
    # 2 x 4096^3 operations in 200 us are 687.195 TFLOP/s, and 3 x 4096^2 x 2 bytes are 503.3 GB/s; 132 SMs do
    # 2 x 4 x 512 each in a cycle of 1980 MHz: 128.38 us are 64.2% of 200.
    jq -e '.kernels[] | select(.kernel | test("nvjet")) | .family == "gemm" and .bound == "tensor cores" and .precision == "half" and
        (.tflops - 687.195 | fabs) < 0.01 and (.gbps - 503.3 | fabs) < 0.1 and (.roofline_pct - 64.2 | fabs) < 0.1' answer.json
    # What sums up behind it has no work; with its time the family is at 51.4%.
    jq -e '.kernels[] | select(.kernel | test("splitK")) | .roofline_pct == null and .tflops == null and .note == "helper"' answer.json
    jq -e '.kernel_families[] | select(.family == "gemm") | (.roofline_pct - 51.4 | fabs) < 0.1 and .known_pct == 100' answer.json
    # 3 x 67.1 MB at 4814 GB/s are 41.82 us of 50.
    jq -e '.kernels[] | select(.kernel == "vectorized_elementwise_kernel") | .bound == "DRAM" and (.gbps - 4026.5 | fabs) < 0.1 and
        (.roofline_pct - 83.6 | fabs) < 0.1' answer.json
    # 3 x 8.4 MB in 5 us are more than DRAM gives: 4700 bytes a cycle of L2 take 2.704 us.
    jq -e '.kernels[] | select(.kernel == "elementwise_kernel") | .bound == "L2" and (.roofline_pct - 54.1 | fabs) < 0.1' answer.json
    jq -e '.kernels[] | select(.kernel == "roi_align_forward") | .roofline_pct == null and .known_pct == 0 and .note == "work unknown"' answer.json
}

@test "explain: what is far from the roofline is a finding where the GPU bounds the run" {
    made > made.jsonl
    "$GRIDTIDE" run -q made.jsonl -o made.db
    run "$GRIDTIDE" explain --no-predict made.db
    [ "$status" -eq 0 ]
    # 172.9 us of 305 whose work is known
    grep -q 'roofline: kernels run at 57% of the roofline' <<< "$output"
    grep -q 'gemm at 51% (tensor cores), elementwise at 81% (DRAM)' <<< "$output"
}

@test "explain: recorded steps with shapes" {
    "$GRIDTIDE" run -q "$fresh/lm-eager-train.json.gz" -o run.db
    explained run.db > answer.json
    jq -e '.kernel_families[] | select(.family == "gemm") | .bound == "tensor cores" and .known_pct == 100 and
        .roofline_pct > 40 and .roofline_pct < 80' answer.json
    jq -e '[.kernels[].roofline_pct | select(. != null)] | length > 30 and max <= 100' answer.json
    jq -e '(.kernels | length > 40) and ([.kernels[].time_pct] | add | . > 99.9 and . < 100.1)' answer.json
    # Ten rows for people, or as many as they ask for.
    rows() { "$GRIDTIDE" explain --no-predict "$@" run.db | awk '/^$/ { on = 0 } on { n++ } /^kernels$/ { on = 1 } END { print n - 1 }'; }
    [ "$(rows --full)" -eq 10 ]
    [ "$(rows --top 3)" -eq 3 ]
}

@test "explain: without operators' inputs the distance is unknown, as in stores of older versions" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-transformer-graph.json.gz" -o run.db
    explained run.db > answer.json
    jq -e '[.kernels[], .kernel_families[]] | all(.roofline_pct == null and .bound != null)' answer.json
    made > made.jsonl
    "$GRIDTIDE" run -q made.jsonl -o made.db
    sqlite3 made.db 'DROP VIEW family_time; DROP VIEW kernel_run; DROP TABLE kernel_family; DROP TABLE range_inputs; PRAGMA user_version = 13'
    explained made.db > answer.json
    jq -e '[.kernels[]] | length == 5 and all(.roofline_pct == null)' answer.json
    "$GRIDTIDE" run -q --set chip.clock_mhz=1000 made.jsonl -o made.db # adds a run, and the tables
    [ "$(sqlite3 made.db 'PRAGMA user_version')" -ge 14 ]
}

@test "the store: kernels by family, and what operators were given" {
    made > made.jsonl
    "$GRIDTIDE" run -q made.jsonl -o made.db
    run sqlite3 made.db "SELECT family, launches, time_us FROM family_time WHERE run_kind = 'simulated'"
    [ "$output" = 'gemm|2|250.0
elementwise|2|55.0
other|1|30.0' ]
    run sqlite3 made.db "SELECT inputs FROM range_inputs JOIN range USING (trace_id, range_no) WHERE name = 'aten::mm'"
    [ "$output" = 'float16[4096,4096] float16[4096,4096]' ]
    sqlite3 made.db "UPDATE range_inputs SET inputs = 'float16[4096'"
    run "$GRIDTIDE" explain made.db
    [ "$status" -eq 1 ]
    grep -q 'range_inputs.*the store is damaged' <<< "$output"
}

@test "report: a roofline where work is known, none where it is not" {
    made > made.jsonl
    "$GRIDTIDE" run -q made.jsonl -o made.db
    "$GRIDTIDE" report -q made.db -o page
    grep -q 'Roofline of 3 kernels' page/index.html
    grep -q 'known for 91% of the kernels’ time' page/index.html
    [ -s page/kernel-roofline.svg ]
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/pytorch-transformer-graph.json.gz" -o plain.db
    "$GRIDTIDE" report -q plain.db -o plain
    [ ! -e plain/kernel-roofline.svg ]
}

@test "explain: what a profiler counted is the work of launches without operators" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/profiles/torch.jsonl.zst" -o run.db
    explained run.db > answer.json
    # matmul_fp16_2048 of traces/record/torch_ops.py: 2 x 2048^3 operations
    jq -e '.kernels[] | select(.kernel | test("nvjet")) | (.flops - 17179869184 | fabs) < 100 and .precision == "half" and .bytes == 16825600' answer.json
    [ "$(sqlite3 run.db 'SELECT count(*) FROM profiled_work')" -gt 40 ]
    sqlite3 run.db "UPDATE profiled_work SET precision = 'fp5'"
    run "$GRIDTIDE" explain run.db
    [ "$status" -eq 1 ]
    grep -q 'profiled_work.*the store is damaged' <<< "$output"
}

# convolved NEXT: what explain says of the operations of a convolution, where its thread's next operator takes NEXT.
convolved() {
    {
        echo '{"gridtide":1,"name":"made","device":"h200"}'
        echo '{"kernel":"sm90_xmma_fprop_implicit_gemm","grid":1024,"block":128,"registers":32}'
        echo '{"kernel":"batch_norm_kernel","grid":1024,"block":128,"registers":32}'
        echo '{"range":"aten::conv2d","calls":1,"inputs":"float16[32,64,56,56] float16[64,64,3,3]"}'
        echo '{"range":"aten::cudnn_convolution","calls":1,"inputs":"float16[32,64,56,56] float16[64,64,3,3]"}'
        echo '{"call":"launch","kernel":"sm90_xmma_fprop_implicit_gemm","stream":"s","op_duration_us":50}'
        echo "{\"range\":\"aten::native_batch_norm\",\"calls\":1,\"inputs\":\"$1\"}"
        echo '{"call":"launch","kernel":"batch_norm_kernel","stream":"s","op_duration_us":50}'
    } > convolved.jsonl
    "$GRIDTIDE" run -q convolved.jsonl -o convolved.db
    explained convolved.db | jq -r '.kernels[] | select(.kernel | test("fprop")) | .flops'
    rm convolved.db
}

@test "explain: a convolution's result is what the next operator on images takes, if it can be" {
    # stride 2: 2 x 32 x 64 x 28 x 28 results x 64 x 3 x 3 weights
    [ "$(convolved 'float16[32,64,28,28] float16[64]')" = 1849688064 ]
    [ "$(convolved 'float16[32,128,28,28] float16[128]')" = null ] # other channels
    [ "$(convolved 'float16[32,64] float16[64]')" = null ]         # no images
}

@test "explain: a kernel that does not tell which gradient it makes makes the one that no other does" {
    {
        echo '{"gridtide":1,"name":"made","device":"h200"}'
        echo '{"kernel":"sm90_xmma_wgrad_implicit_gemm","grid":1024,"block":128,"registers":32}'
        echo '{"kernel":"implicit_convolve_sgemm","grid":1024,"block":128,"registers":32}'
        echo '{"range":"aten::convolution_backward","calls":2,"inputs":"float16[32,64,28,28] float16[32,64,56,56] float16[64,64,3,3] (0) (2,2) (1,1) (1,1) 0 (0,0) 1 (1,1,0)"}'
        echo '{"call":"launch","kernel":"sm90_xmma_wgrad_implicit_gemm","stream":"s","op_duration_us":50}'
        echo '{"call":"launch","kernel":"implicit_convolve_sgemm","stream":"s","op_duration_us":50}'
    } > gradients.jsonl
    "$GRIDTIDE" run -q gradients.jsonl -o gradients.db
    # 2 x 32 x 64 x 28 x 28 results x 64 x 3 x 3 weights, each
    [ "$(explained gradients.db | jq -c '[.kernels[].flops]')" = '[1849688064,1849688064]' ]
}
