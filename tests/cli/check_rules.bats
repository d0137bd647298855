#!/usr/bin/env bats
# gridtide check: which calls of CUDA's return when their work is done, and what is told where memory is given back, in graphs and
# on several GPUs.

bats_require_minimum_version 1.5.0

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
}

# races LINE...: how many a trace of these lines has; the answer is in answer.json.
races()
{
    {
        echo '{"gridtide":1,"device":"h200"}'
        echo '{"kernel":"k","grid":4,"block":128,"block_us":20}'
        for stream in a b c; do echo "{\"stream\":\"$stream\",\"flags\":[\"non_blocking\"]}"; done
        printf '%s\n' "$@"
    } > trace.jsonl
    "$GRIDTIDE" check -q trace.jsonl --format json > answer.json
    jq '.races | length' answer.json
}

use()
{
    echo "{\"call\":\"launch\",\"kernel\":\"k\",\"stream\":\"$1\",\"$2\":[\"$3\"]}"
}

copy()
{
    echo "{\"call\":\"copy\",\"bytes\":64,\"stream\":\"$1\",\"direction\":\"$2\",\"memory\":\"$3\",\"source\":\"$4\",\"destination\":\"$5\",\"synchronous\":$6}"
}

@test "synchronous forms in a default stream, legacy or of a thread, wait as CUDA's do" {
    p='{"stream":"p","flags":["per_thread_default"]}'
    # Staged from pageable memory, and within the device: the copy may still be under way. "A stream sync is performed before
    # the copy is initiated": what the stream was asked for before is done.
    [ "$(races "$p" "$(use p writes x)" "$(copy p h2d pageable h y true)" "$(use b reads x)")" -eq 0 ]
    [ "$(races "$p" "$(use p writes x)" "$(copy p h2d pageable h y false)" "$(use b reads x)")" -eq 1 ]
    [ "$(races '{"stream":"d"}' "$(use d writes x)" "$(copy 0 h2d pageable h y true | sed 's/"stream":"0"/"stream":0/')" "$(use b reads x)")" -eq 0 ]
    [ "$(races "$p" "$(copy p h2d pageable h x true)" "$(use b reads x)")" -eq 1 ]
    [ "$(races "$p" "$(copy p d2d device w x true)" "$(use b reads x)")" -eq 1 ]
    [ "$(races "$p" "$(copy p d2h pinned x h true)" "$(use b writes x)")" -eq 0 ]
    memset='{"call":"memset","bytes":64,"stream":"p","synchronous":true,"writes":["x"],"memory"'
    [ "$(races "$p" "$memset:\"device\"}" "$(use b reads x)")" -eq 1 ]
    # "Except when the target is pinned host memory or a Unified Memory region, in which case they are fully synchronous".
    [ "$(races "$p" "$memset:\"pinned\"}" "$(copy b h2d pinned x y false)")" -eq 0 ]
    [ "$(races "$p" "$memset:\"managed\"}" "$(use b reads x)")" -eq 0 ]
    # "From any host memory to any host memory, the function is fully synchronous": the asynchronous one, too.
    [ "$(races "$(copy a h2h pinned h g false)" "$(copy b h2d pinned g x false)")" -eq 0 ]
    # The legacy default stream's synchronisation is for blocking streams as well, not for others.
    [ "$(races '{"stream":"d"}' "$(use d writes x)" '{"call":"stream_sync","stream":0}' "$(use b reads x)")" -eq 0 ]
    [ "$(races "$(use a writes x)" '{"call":"stream_sync","stream":0}' "$(use b reads x)")" -eq 1 ]
    # A poll's queries tell of the stream that they ask alone; of one that gives up nothing is known.
    [ "$(races '{"stream":"d"}' "$(use d writes x)" '{"call":"poll","stream":0,"piece_us":1}' "$(use b reads x)")" -eq 1 ]
    [ "$(races '{"stream":"d"}' "$(use d writes x)" '{"call":"poll","stream":"d","piece_us":1}' "$(use b reads x)")" -eq 0 ]
    [ "$(races '{"stream":"d"}' "$(use d writes x)" '{"call":"poll","stream":"d","piece_us":1,"most_pieces":2}' "$(use b reads x)")" -eq 1 ]
    # CUDA_LAUNCH_BLOCKING
    [ "$(races "$(use a writes x | sed 's/}$/,"synchronous":true}/')" "$(use b reads x)")" -eq 0 ]
}

@test "memory that is used after it was given back, and was not given out again, is told as used, not as reused" {
    [ "$(races '{"call":"alloc","buffer":"x","bytes":64,"stream":"a"}' "$(use b writes x)" '{"call":"free","buffer":"x","stream":"a"}' "$(use c reads x)")" -eq 1 ]
    jq -e '.races[0] | (.missing | contains("out again") | not) and (.fix | contains("c.wait_stream(b)"))' answer.json
    jq -e '.misuses | length > 0' answer.json
    # Nothing says that another buffer at its address was given out.
    [ "$(races '{"buffer":"x","bytes":64,"address":512}' '{"buffer":"y","bytes":64,"address":512}' "$(use a writes x)" '{"call":"free","buffer":"x","stream":"b"}' "$(use b reads y)")" -eq 1 ]
    jq -e '.races[0].fix | contains("b.wait_stream(a)") and (contains("record_stream") | not)' answer.json
}

@test "memory that is given back in one stream and used anew in another takes two waits" {
    early=('{"call":"alloc","buffer":"x","bytes":64,"stream":"a","address":512}' '{"call":"launch","kernel":"k","stream":"b","reads":["x"]}')
    wait=('{"call":"event_record","event":"e","stream":"b"}' '{"call":"event_wait","event":"e","stream":"a"}')
    late=('{"call":"free","buffer":"x","stream":"a"}' '{"call":"alloc","buffer":"y","bytes":64,"stream":"a","address":512}')
    then=('{"call":"event_record","event":"f","stream":"a"}' '{"call":"event_wait","event":"f","stream":"c"}')
    [ "$(races "${early[@]}" "${late[@]}" "$(use c writes y)")" -eq 1 ]
    jq -e '.races[0].fix | contains("x.record_stream(b), or both a.wait_stream(b) and, before line 10, c.wait_stream(a)")' answer.json
    [ "$(races "${early[@]}" "${wait[@]}" "${late[@]}" "$(use c writes y)")" -eq 1 ]
    [ "$(races "${early[@]}" "${wait[@]}" "${late[@]}" "${then[@]}" "$(use c writes y)")" -eq 0 ]
    # Used anew in the stream that gave it back: one will do.
    [ "$(races "${early[@]}" "${late[@]}" "$(use a writes y)")" -eq 1 ]
    jq -e '.races[0].fix | endswith("a.wait_stream(b)")' answer.json
}

@test "of a graph's nodes the stream that it was launched into is to wait" {
    graph='{"call":"graph_launch","stream":"a","nodes":[{"kernel":"k","writes":["q"]},{"kernel":"k","reads":["x"],"after":[0],"stream":"b"}]}'
    [ "$(races "$(use c writes x)" "$graph")" -eq 1 ]
    jq -e '.races[0].fix | startswith("before line 7: a.wait_stream(c)")' answer.json
    [ "$(races "$(use c writes x)" '{"call":"event_record","event":"e","stream":"c"}' '{"call":"event_wait","event":"e","stream":"a"}' "$graph")" -eq 0 ]
}

@test "what a rank's part of a collective reads is to be asked for before another rank goes on" {
    cat > trace.jsonl << 'TRACE'
{"gridtide":1,"device":"h200"}
{"kernel":"k","grid":4,"block":128,"block_us":20}
{"gpu":0}
{"gpu":1}
{"stream":"a","gpu":0}
{"stream":"b","gpu":1}
{"group":"g","gpus":[0,1]}
{"kernel":"ar","grid":2,"block":128,"collective":"all_reduce","bytes":4096,"group":"g"}
{"buffer":"y","bytes":64,"gpu":1}
{"call":"launch","kernel":"ar","stream":"b"}
{"call":"launch","kernel":"k","stream":"b","writes":["y"]}
{"call":"launch","kernel":"ar","stream":"a","reads":["y"]}
TRACE
    run -1 --separate-stderr "$GRIDTIDE" check -q trace.jsonl --format json
    echo "$output"
    jq -e '.races[0].fix == "submit line 12, and the work of its rank before it, before line 11, and between them b.wait_stream(a)"' <<< "$output"
}

@test "streams of one number on two GPUs are told apart, and a device's synchronisation is for its own" {
    cat > two.json << 'TRACE'
{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":20,"ts":20,"dur":50,"args":{"device":0,"context":1,"stream":20,"correlation":1,"grid":[1,1,1],"block":[32,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":20,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":20,"ts":30,"dur":500,"args":{"device":1,"context":2,"stream":20,"correlation":2,"grid":[1,1,1],"block":[32,1,1]}},
{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":9,"tid":9,"ts":30,"dur":45,"args":{"correlation":3}},
{"ph":"X","cat":"cuda_sync","name":"Context Sync","pid":0,"tid":1,"ts":30,"dur":45,"args":{"cuda_sync_kind":"Context Sync","stream":-1,"correlation":3,"device":0,"context":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":90,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":28,"ts":530,"dur":50,"args":{"device":1,"context":2,"stream":28,"correlation":4,"grid":[1,1,1],"block":[32,1,1]}}
]}
TRACE
    "$GRIDTIDE" import -q kineto two.json -o two.jsonl
    grep -c '"call":"device_sync".*"stream":20' two.jsonl
    # What the kernels touch: both on GPU 1, and one on GPU 0.
    sed -e '/"call":"launch"/s/}$/,"writes":["x"]}/' two.jsonl > touched.jsonl
    run -1 --separate-stderr "$GRIDTIDE" check -q touched.jsonl --format json
    jq -e '[.races[] | select((.first | contains("stream 20_of_gpu_1")) and (.second | contains("stream 28")))] | length == 1' <<< "$output"
}
