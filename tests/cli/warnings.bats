# What a recording lacks, what was taken instead, and what to do about it.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A Kineto profile of a launch; its kernel's arguments besides those that it needs.
profile() {
    cat << END
{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaStreamSynchronize","pid":1,"tid":1,"ts":7,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":9,"ts":3,"dur":3,"args":{"device":0,"context":1,"stream":9,
"correlation":1,"grid":[1,1,1],"block":[32,1,1]$1}}]}
END
}

@test "a priority beyond 32 bits becomes the nearest, counted, and what is written can be read" {
    for pair in 4294967291:2147483647 9223372036:2147483647 -9223372036:-2147483648 -2147483648:-2147483648; do
        profile ",\"priority\":${pair%:*}" > wide.json
        run "$GRIDTIDE" import wide.json -o wide.jsonl
        [ "$status" -eq 0 ]
        [ "${pair%:*}" = "${pair#*:}" ] || [[ "$output" == *"priorities-clamped: "*"the nearest 32-bit value is used; "* ]]
        grep -q "\"priority\":${pair#*:}[,}]" wide.jsonl
        "$GRIDTIDE" run -q wide.jsonl -o wide.db
    done
}

@test "a typed priority beyond 32 bits is refused with its line" {
    for wrong in 2147483648 -2147483649 4294967291; do
        printf '{"gridtide":1}\n{"stream":1,"priority":%s}\n' "$wrong" > typed.jsonl
        run "$GRIDTIDE" run typed.jsonl -o typed.db
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: typed.jsonl:2: \"priority\": "*"is too large"* ]]
    done
}

@test "priorities that the device does not have are counted and said" {
    printf '%s\n' '{"gridtide":1,"device":"toy"}' '{"kernel":"k","duration_us":1}' '{"stream":1,"priority":-6}' \
        '{"stream":2,"priority":1}' '{"stream":3,"priority":-5}' '{"call":"launch","kernel":"k","stream":1}' > p.jsonl
    run "$GRIDTIDE" run p.jsonl -o p.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: priorities-out-of-range: "*"; set \"priority\""*" (2 times)"* ]]
    [ "$(sqlite3 p.db "select count from warning where kind = 'priorities-out-of-range'")" = 2 ]
    run "$GRIDTIDE" run p.jsonl --set scheduling.priority_high=-6 -o p.db
    [[ "$output" == *"priorities-out-of-range: "*" (1 times)"* ]]
}

@test "fields one letter away from one that is known are told with their line, and kept" {
    printf '%s\n' '{"gridtide":1,"other":2}' '{"kernel":"k","duration_us":1,"regsters":3,"mine":1}' \
        '{"call":"launch","kernel":"k","strem":1}' '{"call":"launch","kernel":"k","strat_us":1}' > slip.jsonl
    run "$GRIDTIDE" run slip.jsonl -o slip.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"unknown-fields: slip.jsonl:2: unknown field 'regsters' in a kernel, did you mean 'registers'?"*"(3 times)"* ]]
    "$GRIDTIDE" import -q slip.jsonl -o kept.jsonl
    "$GRIDTIDE" import -q kept.jsonl -o again.jsonl
    grep -q '"regsters":3,"mine":1' again.jsonl
    grep -q '"kind":"unknown-fields","count":3' again.jsonl
    run "$GRIDTIDE" run -q slip.jsonl -o slip.db
    [ -z "$output" ]
    for unit in strat_us:start_us tread:thread syncronous:synchronous; do
        printf '%s\n' '{"gridtide":1}' "{\"call\":\"device_sync\",\"${unit%:*}\":1}" > one.jsonl
        run "$GRIDTIDE" run one.jsonl -o one.db
        [[ "$output" == *"unknown field '${unit%:*}' in a call, did you mean '${unit#*:}'?"* ]]
    done
}

@test "a device key that is none is told with the one that was meant" {
    printf '%s\n' '{"gridtide":1}' '{"kernel":"k","duration_us":1}' '{"call":"launch","kernel":"k"}' > k.jsonl
    run "$GRIDTIDE" run k.jsonl --set chip.smss=4 -o k.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"no device key 'chip.smss'; did you mean chip.sms?"* ]]
    printf '[chip]\nsmss = 4\n' > own.ini
    run "$GRIDTIDE" run k.jsonl --device ./own.ini -o k.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"own.ini:2: "*"did you mean chip.sms?"* ]]
}

@test "--cost program without a program says what to do" {
    printf '%s\n' '{"gridtide":1}' '{"kernel":"k","duration_us":1}' '{"call":"launch","kernel":"k"}' > k.jsonl
    run "$GRIDTIDE" run k.jsonl --cost program -o k.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"k.jsonl: --cost program, but no kernel has machine code: "*"ncu --set full"*"--programs FILE"* ]]
    [ ! -e k.db ]
}

@test "a warning names the flag of the profiler that records what is missing" {
    profile "" > plain.json
    run "$GRIDTIDE" import plain.json -o plain.jsonl
    [[ "$output" == *"stream-syncs-unknown: "*"; profile with experimental_config="*"enable_cuda_sync_events=True); if it was set, record with Nsight Systems (1 times)"* ]]
    grep -q "enable_cuda_sync_events=True" plain.jsonl
}

# Four SMs have room for one block more of the second kernel each: its other 62 blocks would have to wait for the
# first kernel's end, but in the recording all of it took 2 us.
@test "a kernel whose recorded duration nothing explains gets no shorter than an empty one, and is counted" {
    operation() {
        printf '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%s,"dur":4,"args":{"correlation":%s}},\n' "$2" "$1"
        printf '{"ph":"X","cat":"kernel","name":"k%s","pid":0,"tid":%s,"ts":%s,"dur":%s,"args":{"device":0,"context":1,"stream":%s,"correlation":%s,"grid":[%s,1,1],"block":[1024,1,1],"registers per thread":16}}\n' \
            "$1" "$1" "$3" "$4" "$1" "$1" "$5"
    }
    { echo '{"deviceProperties":[{"id":0,"name":"NVIDIA H200"}],"traceEvents":['
      operation 8 1 10 100 260; echo ','; operation 9 50 60 2 66; echo ']}'; } > held.json
    run "$GRIDTIDE" run held.json -o held.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: contention-unexplained: "*"something else delayed them; give these kernels "*"(1 times)"* ]]
    [ "$(sqlite3 held.db "select count from warning where kind = 'contention-unexplained'")" = 1 ]
    run "$GRIDTIDE" run -q held.json --set chip.sms=66 -o held.db
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "launches by blocks that CUDA refuses do not happen, and are counted" {
    printf '%s\n' '{"gridtide":1,"device":"toy"}' '{"kernel":"leaf","grid":1,"block":32,"block_us":10}' \
        '{"kernel":"parent","grid":1,"block":32,"block_us":10,"launches":[{"kernel":"leaf","count":5,"into":"fire_and_forget"}]}' \
        '{"call":"launch","kernel":"parent"}' > pending.jsonl
    run "$GRIDTIDE" run pending.jsonl --set device_launch.pending=2 -o pending.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: launches-pending: "*"CUDA error 69"*"(3 times)"* ]]
    [ "$(sqlite3 pending.db "select count(*) from run_op where run_id = (select max(run_id) from run)")" = 3 ]
    run "$GRIDTIDE" explain pending.db
    [ "$status" -eq 0 ]
}
