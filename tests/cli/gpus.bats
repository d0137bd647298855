# Several GPUs: what two H200s played, held against the simulator without a GPU; what is refused.

# trace LINE...: a trace of these lines behind its header.
trace() {
    { echo '{"gridtide":1,"name":"t","device":"toy"}'; printf '%s\n' "$@"; } > "$BATS_TEST_TMPDIR/t.jsonl"
}

refused() {
    run "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
    [ "$status" -eq 1 ]
    [[ "$output" == *"$1"* ]] || { echo "$output"; false; }
}

@test "gpus: a copy to its own GPU, peers that are not above, a pull that is none are refused" {
    trace '{"call":"copy","direction":"p2p","bytes":8,"peer_gpu":0}'
    refused "is the one that its stream is on"
    trace '{"gpu":1,"peers":[2]}' '{"gpu":2}'
    refused "defined above"
    trace '{"gpu":1,"peers":1}'
    refused "t.jsonl:2"
    trace '{"gpu":1,"peers":[[1]]}'
    refused "defined above"
    trace '{"call":"copy","direction":"h2d","bytes":8,"from_peer":true}'
    refused "from_peer"
    trace '{"thread":"a","lock":7}'
    refused "t.jsonl:2"
}

@test "gpus: a kernel in another GPU's memory says how many bytes it moves, or how long it ran" {
    trace '{"gpu":0}' '{"gpu":1}' '{"kernel":"k","grid":1,"block":32}' '{"call":"launch","kernel":"k","peer_gpu":1}'
    refused 'needs its duration or "bytes"'
    trace '{"gpu":0}' '{"gpu":1}' '{"kernel":"k","grid":1,"block":32}' \
        '{"call":"launch","kernel":"k","peer_gpu":1,"from_peer":true,"op_duration_us":5}'
    "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
    [ "$(sqlite3 "$BATS_TEST_TMPDIR/t.db" 'SELECT end_ps - start_ps FROM run_op')" = 5000000 ]
    [ "$(sqlite3 "$BATS_TEST_TMPDIR/t.db" 'SELECT op_no, gpu_no, from_peer, bytes FROM op_peer')" = '0|1|1|0' ]
}

@test "gpus: links that make no sense are refused, with the key" {
    trace '{"call":"copy","direction":"p2p","bytes":8,"peer_gpu":1}'
    for pairs in usb "nvlink 0-0=pcie" "nvlink 0-1=pcie:0" "nvlink 0-1"; do
        run "$GRIDTIDE" run -q --set "link.pairs=$pairs" "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
        [ "$status" -ne 0 ]
        [[ "$output" == *link.pairs* ]] || { echo "$pairs: $output"; false; }
    done
    "$GRIDTIDE" run -q --set "link.pairs=nvlink 0>1=pcie:0.5" "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
}

@test "gpus: 256 of them that all send at once" {
    {
        echo '{"gridtide":1,"name":"t","device":"h200"}'
        for gpu in $(seq 0 255); do
            echo "{\"stream\":\"s$gpu\",\"gpu\":$gpu}"
        done
        for gpu in $(seq 0 255); do
            echo "{\"call\":\"copy\",\"direction\":\"p2p\",\"bytes\":1000000,\"peer_gpu\":$(((gpu + 1) % 256)),\"stream\":\"s$gpu\",\"thread\":\"t$gpu\"}"
        done
    } > "$BATS_TEST_TMPDIR/t.jsonl"
    timeout 60 "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
}

@test "gpus: what a lock costs is a what-if" {
    "$GRIDTIDE" whatif "$GRIDTIDE_SOURCE/tests/golden/gpus-lock.jsonl" --change no-lock --format json > "$BATS_TEST_TMPDIR/a.json"
    cat "$BATS_TEST_TMPDIR/a.json"
    grep -q '"predicted_us": *3' "$BATS_TEST_TMPDIR/a.json"
    run "$GRIDTIDE" whatif "$GRIDTIDE_SOURCE/tests/golden/two-gpus.jsonl" --change no-lock
    [ "$status" -eq 1 ]
    [[ "$output" == *'"lock"'* ]]
}

@test "gpus: a recorded copy between GPUs says where it is from, whichever of them asked for it" {
    cat > "$BATS_TEST_TMPDIR/k.json" <<'EVENTS'
{"schemaVersion": 1, "traceEvents": [
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 9, "tid": 9, "ts": 1, "dur": 3, "args": {"correlation": 11}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 0, "tid": 17, "ts": 10, "dur": 3, "args": {"fromDevice": 0, "inDevice": 0, "toDevice": 1, "fromContext": 1, "inContext": 1, "toContext": 2, "stream": 17, "correlation": 11, "bytes": 1024}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 9, "tid": 9, "ts": 21, "dur": 3, "args": {"correlation": 12}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 0, "tid": 17, "ts": 30, "dur": 3, "args": {"fromDevice": 1, "inDevice": 0, "toDevice": 0, "fromContext": 2, "inContext": 1, "toContext": 1, "stream": 17, "correlation": 12, "bytes": 2048}},
 {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 9, "tid": 9, "ts": 41, "dur": 3, "args": {"correlation": 13}},
 {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy PtoP (Device -> Device)", "pid": 0, "tid": 17, "ts": 50, "dur": 3, "args": {"fromDevice": 0, "inDevice": 0, "toDevice": 0, "fromContext": 1, "inContext": 1, "toContext": 1, "stream": 17, "correlation": 13, "bytes": 4096}}
]}
EVENTS
    "$GRIDTIDE" import kineto "$BATS_TEST_TMPDIR/k.json" -o "$BATS_TEST_TMPDIR/k.jsonl"
    cat "$BATS_TEST_TMPDIR/k.jsonl"
    grep -q '"bytes":1024,"peer_gpu":1[,}]' "$BATS_TEST_TMPDIR/k.jsonl"
    grep -q '"bytes":2048,"peer_gpu":1,"from_peer":true' "$BATS_TEST_TMPDIR/k.jsonl"
    ! grep -q '"bytes":1024,.*from_peer' "$BATS_TEST_TMPDIR/k.jsonl"
    ! grep -q '"bytes":4096,.*peer' "$BATS_TEST_TMPDIR/k.jsonl"
    "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/k.jsonl" -o "$BATS_TEST_TMPDIR/k.db"
}

@test "gpus: a kernel in another GPU's memory of as many blocks as there may be is over soon" {
    trace '{"gpu":0}' '{"gpu":1}' '{"kernel":"k","grid":2000000000,"block":1024}' \
        '{"call":"launch","kernel":"k","peer_gpu":1,"from_peer":true,"bytes":1000000000000}'
    timeout 20 "$GRIDTIDE" run -q "$BATS_TEST_TMPDIR/t.jsonl" -o "$BATS_TEST_TMPDIR/t.db"
    [ "$(sqlite3 "$BATS_TEST_TMPDIR/t.db" 'SELECT end_ps - start_ps >= 1e15 FROM run_op')" = 1 ]
}
