# gridtide import: formats, names of files, what is said, what is refused; counts against real profiles.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    data=$GRIDTIDE_SOURCE/tests/data
}

# counts FILE: "kernels copies memsets calls" of a Kineto profile, by nothing that Gridtide uses.
counts() {
    python3 - "$1" << 'END'
import gzip, json, sys
opened = gzip.open if sys.argv[1].endswith('.gz') else open
profile = json.load(opened(sys.argv[1]))
events = profile['traceEvents'] if isinstance(profile, dict) else profile
found = [event.get('cat', '').lower() for event in events if event.get('ph') == 'X']
print(*(sum(cat in names for cat in found) for names in
        (('kernel',), ('gpu_memcpy', 'memcpy'), ('gpu_memset', 'memset'), ('cuda_runtime', 'cuda_driver', 'runtime'))))
END
}

@test "import sniffs the format, names the trace after the file and says where it went" {
    cp "$data/kineto-old.json" step.pt.trace.json
    run "$GRIDTIDE" import step.pt.trace.json
    [ "$status" -eq 0 ]
    [[ "$output" == *"step (kineto)"* ]]
    [[ "$output" == *"operations  3: 1 kernels, 1 copies, 1 memsets"* ]]
    [[ "$output" == *"calls       3"* ]]
    [[ "$output" == *"written to  step.jsonl.gz"* ]]
    gzip -t step.jsonl.gz
    zcat step.jsonl.gz | head -n 1 | grep -q '"gridtide":1'
}

@test "import reads gzip and zstd, by the bytes and not the name" {
    gzip -c "$data/kineto-modern.json" > one
    zstd -q -c "$data/kineto-modern.json" > two 2> /dev/null || skip "no zstd program"
    "$GRIDTIDE" import -q "$data/kineto-modern.json" -o kineto-modern.jsonl
    "$GRIDTIDE" import -q kineto one -o one.jsonl
    "$GRIDTIDE" import -q two -o two.jsonl
    cmp <(sed 1d kineto-modern.jsonl) <(sed 1d one.jsonl)
    cmp <(sed 1d kineto-modern.jsonl) <(sed 1d two.jsonl)
}

@test "import gives the same bytes each time, and the trace reads back as itself" {
    for name in modern old nan ranks; do
        "$GRIDTIDE" import -q "$data/kineto-$name.json" -o a.jsonl.gz
        "$GRIDTIDE" import -q "$data/kineto-$name.json" -o b.jsonl.gz
        cmp a.jsonl.gz b.jsonl.gz
        "$GRIDTIDE" import -q a.jsonl.gz -o again.jsonl
        cmp <(zcat a.jsonl.gz) again.jsonl
    done
}

@test "import -o - writes the trace to standard output and nothing else" {
    "$GRIDTIDE" import "$data/kineto-modern.json" -o - > out.jsonl 2> err
    "$GRIDTIDE" import -q "$data/kineto-modern.json" -o file.jsonl
    cmp out.jsonl file.jsonl
    grep -q "warning: event-waits-unknown" err
}

@test "import reads standard input, the format named or not" {
    run "$GRIDTIDE" import -q kineto - -o in.jsonl < "$data/kineto-old.json"
    [ "$status" -eq 0 ]
    "$GRIDTIDE" import -q - -o sniffed.jsonl < "$data/kineto-old.json"
    cmp in.jsonl sniffed.jsonl
    run "$GRIDTIDE" import - <<< 'no trace'
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: standard input: the format is unknown; formats are "* ]]
}

@test "import warns once a kind, with how often; -q is silent; the header keeps it" {
    run "$GRIDTIDE" import "$data/kineto-nan.json" -o nan.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: values-not-json: "*" (5 times)"* ]]
    run "$GRIDTIDE" import -q "$data/kineto-nan.json" -o quiet.jsonl
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    head -n 1 nan.jsonl | grep -q '"kind":"values-not-json","count":5'
}

@test "import of a profile without GPU work warns" {
    echo '{"traceEvents": [{"ph": "X", "cat": "cuda_runtime", "name": "cudaMalloc", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 1}}]}' > cpu.json
    run "$GRIDTIDE" import cpu.json
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: no-gpu-work"* ]]
    [[ "$output" == *"operations  0:"* ]]
    echo '[]' > none.json
    run "$GRIDTIDE" import kineto none.json
    [ "$status" -eq 0 ]
}

@test "import refuses what it cannot read, names file and place, leaves nothing behind" {
    head -c 900 "$data/kineto-modern.json" > cut.json
    run "$GRIDTIDE" import cut.json
    [ "$status" -eq 1 ]
    [ "$output" = "gridtide: cut.json: byte 900: the JSON text ends too early; is the file complete?" ]
    gzip -c "$data/kineto-modern.json" | head -c 700 > cut.json.gz
    : > empty.json
    head -c 5000 /dev/urandom > random.json
    mkdir folder.json
    truncate -s 5G sparse.json
    for file in cut.json.gz empty.json random.json folder.json sparse.json missing.json; do
        run "$GRIDTIDE" import "$file"
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: $file: "* ]]
        run "$GRIDTIDE" import kineto "$file"
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: $file: "* ]]
    done
    [ -z "$(ls | grep jsonl)" ]
}

@test "import does not write over its own input" {
    "$GRIDTIDE" import -q "$data/kineto-old.json" -o old.jsonl.gz
    cp old.jsonl.gz kept
    run "$GRIDTIDE" import old.jsonl.gz
    [ "$status" -eq 1 ]
    [[ "$output" == *"would be written over what is read"* ]]
    cmp old.jsonl.gz kept
}

@test "import's wrong usage is told from its failures" {
    run "$GRIDTIDE" import
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" import vtune "$data/kineto-old.json"
    [ "$status" -eq 2 ]
    [[ "$output" == *"unknown format 'vtune'; formats are record, kineto, nsys, rocpd, rpd, xplane, ncu, tasks, chakra, accelsim, gridtide"* ]]
    run "$GRIDTIDE" import kineto a b
    [ "$status" -eq 1 ]
    [[ "$output" == *"a: "* ]]
}

@test "every event of the real Kineto profiles becomes one operation, every call one call" {
    [ -d "$GRIDTIDE_TRACES" ] || skip "no real traces at $GRIDTIDE_TRACES"
    command -v python3 > /dev/null || skip "no python3 to count with"
    for file in "$GRIDTIDE_TRACES"/h200/*.json.gz "$GRIDTIDE_TRACES"/kineto/*.json.gz; do
        read -r kernels copies memsets calls <<< "$(counts "$file")"
        run "$GRIDTIDE" import "$file" -o trace.jsonl
        [ "$status" -eq 0 ]
        echo "# $file: $kernels $copies $memsets $calls"
        [[ "$output" == *"operations  $((kernels + copies + memsets)): $kernels kernels, $copies copies, $memsets memsets"* ]]
        [[ "$output" == *"calls       $calls"* ]]
    done
}

@test "the real graph replay is two launches of 349 operations" {
    file=$GRIDTIDE_TRACES/h200/resnet50_b8_graph.json.gz
    [ -f "$file" ] || skip "no real traces at $GRIDTIDE_TRACES"
    "$GRIDTIDE" import -q "$file" -o graph.jsonl
    [ "$(grep -c '"call":"graph_launch"' graph.jsonl)" -eq 2 ]
}

@test "waits of the real profile with sync events mean the records that it tells" {
    file=$GRIDTIDE_TRACES/kineto/critical_path__cuda_event_sync_multi_stream__event_sync_trace.json.gz
    [ -f "$file" ] || skip "no real traces at $GRIDTIDE_TRACES"
    "$GRIDTIDE" import -q "$file" -o sync.jsonl
    # Record 1385 in stream 20 is what stream 24 waits for; queries ask for records 32 and 62.
    [ "$(grep '"call":"event_wait"' sync.jsonl | grep '"stream":24' | grep -c '"event":1385')" -eq 1 ]
    [ "$(grep '"call":"event_record"' sync.jsonl | grep '"stream":20' | grep -c '"event":1385')" -eq 1 ]
    [ "$(grep '"call":"event_query"' sync.jsonl | grep -cE '"event":(32|62)[,}]')" -eq 2 ]
}

@test "a kernel that was launched cooperatively is so in the trace" {
    sed 's/"cudaLaunchKernel"/"cudaLaunchCooperativeKernel"/' "$data/kineto-modern.json" > cooperative.json
    "$GRIDTIDE" import -q cooperative.json -o cooperative.jsonl
    grep '"kernel":' cooperative.jsonl | grep -q '"cooperative":true'
    "$GRIDTIDE" import -q "$data/kineto-modern.json" -o plain.jsonl
    ! grep -q cooperative plain.jsonl
}

@test "import keeps strides and paddings of convolutions, and the trace reads back as itself" {
    cat > convolution.json <<'END'
{"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::cudnn_convolution", "pid": 1, "tid": 1, "ts": 1, "dur": 9, "args": {"External id": 1,
 "Concrete Inputs": ["", "", "[1, 1]", "[2, 2]", "[1, 1]", "1", "False", "0.5", "True"],
 "Input type": ["c10::Half", "c10::Half", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"],
 "Input Dims": [[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], [], [], []]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 2, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "fprop", "pid": 0, "tid": 7, "ts": 9, "dur": 3,
 "args": {"device": 0, "context": 1, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}}]}
END
    "$GRIDTIDE" import -q convolution.json -o a.jsonl
    grep -q '"inputs":"float16\[2,3,8,8\] float16\[4,3,3,3\] (1,1) (2,2) (1,1) 1 0 - 1"' a.jsonl
    "$GRIDTIDE" import -q a.jsonl -o again.jsonl
    cmp a.jsonl again.jsonl
    # 2 x 2 x 4 x 4 x 4 results x 3 x 3 x 3 weights
    "$GRIDTIDE" run -q --device h200 a.jsonl -o a.db
    [ "$("$GRIDTIDE" explain --no-predict -f json a.db | jq .kernels[0].flops)" = 6912 ]
    sed -i 's/(2,2)/(2,2/' a.jsonl
    run "$GRIDTIDE" import a.jsonl -o broken.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"a.jsonl:"*"it takes a word an input"* ]]
}
