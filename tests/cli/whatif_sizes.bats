# whatif batch=N, seq=N: kernels at other sizes, by what their operators were given.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/shapes/fresh
}

# typed > FILE: a step of one kernel that adds two tensors of 16 M floats in 48.8 us on an H200.
typed() {
    echo '{"gridtide":1,"name":"typed","device":"h200"}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16,"duration_us":48.8}'
    echo '{"range":"aten::linear","calls":0,"inputs":"float32[16,64] float32[8,64]"}'
    echo '{"range":"aten::add","calls":1,"inputs":"float32[16,1048576] float32[16,1048576]"}'
    echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","duration_us":3}'
}

@test "a kernel takes as long as its bytes do" {
    # tests/unit/shapes.c has 192.3 us by hand; 3 us of the call and the launch latency before come on top of either.
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change batch=64 -o typed.db > answer.json
    run sqlite3 typed.db "select round((end_ps - start_ps) / 1e6, 1) from run_op where run_id = (select max(run_id) from run)"
    [ "$output" = 192.3 ]
    jq -e '.changes[0].assumptions | any(contains("recorded batch is 16, by the inputs"))' answer.json
    # A stated size says the same, and is no assumption of ours.
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change batch=16:64 > stated.json
    [ "$(jq '.changes[0].step_us' answer.json)" = "$(jq '.changes[0].step_us' stated.json)" ]
    jq -e '.changes[0].assumptions | any(contains("recorded batch is 16; it becomes 64"))' stated.json
}

# worded [US]: the same of 16 sequences of 128 words.
worded() {
    echo '{"gridtide":1,"name":"worded","device":"h200"}'
    echo '{"kernel":"vectorized_elementwise_kernel","grid":32768,"block":128,"registers":16,"duration_us":'"${1:-48.8}"'}'
    echo '{"range":"aten::layer_norm","calls":0,"inputs":"float32[16,128,64] - float32[64] float32[64]"}'
    echo '{"range":"aten::add","calls":1,"inputs":"float32[16,128,8192] float32[16,128,8192]"}'
    echo '{"call":"launch","kernel":"vectorized_elementwise_kernel","stream":"s","duration_us":3}'
}

# kernel_us STORE: how long the kernel of the last run took.
kernel_us() {
    sqlite3 "$1" "select round((end_ps - start_ps) / 1e6, 1) from run_op where run_id = (select max(run_id) from run)"
}

@test "batch= and seq= together multiply, and the answer names both" {
    # Twice as many sequences of twice the length: four times the bytes, 192.3 us as above.
    worded > worded.jsonl
    "$GRIDTIDE" whatif -q -f json worded.jsonl --change batch=32 --change seq=256 -o both.db > both.json
    [ "$(kernel_us both.db)" = 192.3 ]
    jq -e '.changes[0].assumptions | any(contains("recorded batch is 16, by the inputs of the operators; it becomes 32"))' both.json
    jq -e '.changes[0].assumptions | any(contains("length of sequences is 128, by the inputs of the operators; it becomes 256"))' both.json
    # A batch as long as the sequences is no reason to mix them up.
    "$GRIDTIDE" whatif -q -f json worded.jsonl --change batch=128 --change seq=64 -o mixed.db > mixed.json
    [ "$(kernel_us mixed.db)" = 192.3 ]
}

@test "batch= twice: one after the other" {
    worded > worded.jsonl
    "$GRIDTIDE" whatif -q -f json worded.jsonl --change batch=32 --change batch=64 -o twice.db > twice.json
    [ "$(kernel_us twice.db)" = 192.3 ]
    jq -e '.changes[0].assumptions | any(contains("The batch is 32 after the change before; it becomes 64"))' twice.json
    run "$GRIDTIDE" whatif -q worded.jsonl --change batch=32 --change batch=16:64
    [ "$status" -eq 1 ]
    [[ "$output" == *"batch=16:64: the batch is 32 after the change before, not 16"* ]]
}

@test "absurd sizes are refused by the change's name" {
    worded 48800000 > long.jsonl
    run "$GRIDTIDE" whatif -q long.jsonl --change batch=16777216
    [ "$status" -eq 1 ]
    [[ "$output" == *"batch=16777216: the operators would take more than 53 days"* ]]
    # 2^50 bytes for 16 become 2^70.
    worded | sed 's/aten::add/aten::zero_/; s/{"call":"launch".*/{"call":"memset","bytes":1125899906842624,"stream":"s","duration_us":3}/' > memset.jsonl
    run "$GRIDTIDE" whatif -q memset.jsonl --change batch=16777216
    [ "$status" -eq 1 ]
    [[ "$output" == *"batch=16777216: a memset of 'zero_' would be of more than 2^62 bytes"* ]]
}

@test "the batch that was recorded changes nothing" {
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change batch=16 > answer.json
    jq -e '.changes[0].change_pct | . < 0.001 and . > -0.001' answer.json
}

@test "steps that are not marked, but repeat, are no operators" {
    # The same recording without ProfilerStep marks: the same kernels, so nearly the same time in all.
    zcat "$recorded/mistral.json.gz" | sed 's/ProfilerStep#/iteration-/g' > bare.json
    for trace in bare.json "$recorded/mistral.json.gz"; do
        "$GRIDTIDE" whatif -q -f json "$trace" --change batch=480 > answer.json
        jq -e '.changes[0].assumptions | any(contains("without recorded inputs")) | not' answer.json
        jq '.changes[0].predicted_us' answer.json >> times
    done
    awk 'NR == 1 { one = $1 } NR == 2 { exit !($1 > 50000 && $1 / one > 0.95 && $1 / one < 1.05) }' times
    typed > two.jsonl
    typed | tail -n 2 >> two.jsonl # the step again
    "$GRIDTIDE" whatif -q -f json two.jsonl --change batch=64 > answer.json
    jq -e '.changes[0].change_pct > 200' answer.json
}

@test "a recorded size that nothing has is refused, one that looks wrong is told" {
    typed > typed.jsonl
    run "$GRIDTIDE" whatif -q typed.jsonl --change batch=7:70
    [ "$status" -eq 1 ]
    [[ "$output" == *"no operator's input follows a recorded batch of 7"* ]]
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change batch=8:16 > answer.json
    jq -e '.changes[0].assumptions | any(contains("look as if it were 16"))' answer.json
    run "$GRIDTIDE" whatif -q typed.jsonl --change seq=1:16
    [ "$status" -eq 1 ]
    [[ "$output" == *"length of 1 cannot be told"* ]]
    typed | sed 's/float32\[16,64\]/float32[4294967296,64]/' > large.jsonl
    run "$GRIDTIDE" whatif -q large.jsonl --change batch=16
    [ "$status" -eq 1 ]
    [[ "$output" == *"more than 16777216"* ]]
}

@test "sides of 0 leave kernels as they were" {
    typed | sed 's/1048576/0/g' > empty.jsonl
    "$GRIDTIDE" whatif -q -f json empty.jsonl --change batch=64 > answer.json
    jq -e '.changes[0].change_pct | . < 0.001 and . > -0.001' answer.json
}

@test "inputs survive being written and read" {
    typed > typed.jsonl
    "$GRIDTIDE" import -q typed.jsonl -o again.jsonl
    grep -q '"range":"aten::add".*"inputs":"float32\[16,1048576\] float32\[16,1048576\]"' again.jsonl
    "$GRIDTIDE" import -q "$recorded/roberta.json.gz" -o roberta.jsonl.gz
    zcat roberta.jsonl.gz | grep -q '"range":"aten::addmm".*"inputs":"float16\[768\] float16\[[0-9]*,768\] float16\[768,768\]"'
    [ "$("$GRIDTIDE" whatif -q -f csv roberta.jsonl.gz --change batch=24)" = \
        "$("$GRIDTIDE" whatif -q -f csv "$recorded/roberta.json.gz" --change batch=24)" ]
}

@test "sizes that are none, and traces without inputs, are refused with what to do" {
    typed > typed.jsonl
    for wrong in 0 -1 x 8x 8: :8 0:8 99999999999999999999; do
        run "$GRIDTIDE" whatif -q typed.jsonl --change "batch=$wrong"
        [ "$status" -ne 0 ]
        [[ "$output" == *"'$wrong' is no size"* ]]
    done
    run "$GRIDTIDE" whatif -q typed.jsonl --change seq=8
    [ "$status" -eq 1 ]
    [[ "$output" == *"seq=RECORDED:N"* ]]
    grep -v range typed.jsonl > bare.jsonl
    run "$GRIDTIDE" whatif -q bare.jsonl --change batch=8
    [ "$status" -eq 1 ]
    [[ "$output" == *"record with record_shapes=True"* ]]
}

@test "inputs that are no such text are refused with their line" {
    typed | sed 's/float32\[16,64\]/float32[16/' > wrong.jsonl
    run "$GRIDTIDE" run -q wrong.jsonl -o wrong.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"wrong.jsonl:3:"*"inputs"* ]]
    [ ! -e wrong.db ]
}

@test "a table of products that is not there, or broken, is told" {
    typed > typed.jsonl
    sed 's/^sweep = .*/sweep = .\/none.csv/' "$GRIDTIDE_SOURCE/sim/devices/h200.ini" > mine.ini
    run "$GRIDTIDE" whatif -q typed.jsonl --device ./mine.ini --change batch=8
    [ "$status" -eq 1 ]
    [[ "$output" == *"none.csv"* ]]
    printf 'precision,form,batch,m,n,k,us\nhalf,TN,1,64,64,64,5\nhalf,TX,1,64,64,64,5\n' > none.csv
    run "$GRIDTIDE" whatif -q typed.jsonl --device ./mine.ini --change batch=8
    [ "$status" -eq 1 ]
    [[ "$output" == *"none.csv:3: there is no form 'TX'"* ]]
}

@test "a GPU without measured products has the model alone, and the answer says so" {
    typed | sed 's/"h200"/"a100"/' > a100.jsonl
    "$GRIDTIDE" whatif -q -f json a100.jsonl --change batch=64 > answer.json
    jq -e '.changes[0].trust | startswith("low")' answer.json
    jq -e '.changes[0].assumptions | any(contains("product.sweep"))' answer.json
}

@test "recorded models at other sizes: what their kernels take together is met" {
    # All of the set, and what was found at the first look: traces/shapes/README.md.
    run "$GRIDTIDE_SOURCE/validate/scripts/shapes.py" "$recorded" --only mistral
    echo "$output"
    [ "$status" -eq 0 ]
    python3 - "$output" << 'END'
import re, sys
line = next(one for one in sys.argv[1].splitlines() if one.startswith("kernels of a step"))
sys.exit(not float(re.search(r"median +([0-9.]+)", line).group(1)) < 3)
END
    [[ "$output" == *"failed"*"0 of 14"* ]]
}

# allocating > FILE: typed(), whose input of 64 MiB was there before, as were 1 GiB more; its result is as large, and freed.
allocating() {
    typed | sed '1a {"gpu":0,"allocated_bytes":1140850688}'
    echo '{"allocations":0,"bytes":[67108864,512,-67108864],"frees":[null,null,0],"ranges":[1,null,null]}'
}

@test "the peak of memory follows the batch, and a GPU may not have as much" {
    allocating > memory.jsonl
    "$GRIDTIDE" whatif -q -f json memory.jsonl --change batch=64 > answer.json
    # 1088 MiB, 64 MiB and 512 bytes; then the operator's two inputs of 64 MiB are there four times as large. Two are
    # taken, and 1 GiB more is of unknown use: 1140850688 + 2 * 3 * 64 MiB + 256 MiB + 512.
    # Reserved are 1088, 64 and 2 MiB; then 1088 + 2 * 3 * 64, 256 and 2.
    [ "$(jq -c '[.peak_memory_bytes, .reserved_memory_bytes, (.changes[0] | .peak_memory_bytes, .reserved_memory_bytes, .out_of_memory)]' answer.json)" = \
        "[1207960064,1210056704,1811939840,1814036480,false]" ]
    jq -e '.changes[0].assumptions | any(contains("of 1.06 GiB that were allocated before the recording, 0.12 GiB follow the batch"))' answer.json
    run "$GRIDTIDE" whatif -q memory.jsonl --change batch=64
    [[ "$output" == *"peak_memory_gib"*"1.125"*"reserved_memory_gib"*"1.688"*"1.689 no"* ]]
    [[ "$output" != *"runs out of memory"* ]]
    run "$GRIDTIDE" whatif -q memory.jsonl --change batch=64 --change device_memory.bytes=1700000000
    [ "$status" -eq 0 ]
    # 1700000000 less a context's 552402944.
    [[ "$output" == *"runs out of memory: its allocator reserves 1.7 GiB for 1.7 GiB that are allocated at a time, and NVIDIA H200 has 1.1 GiB for a program."* ]]
    "$GRIDTIDE" whatif -q -f csv memory.jsonl --change batch=16 --change device_memory.bytes=1000000000 > full.csv
    grep -q '^table,change,.*,peak_memory_gib,reserved_memory_gib,out_of_memory' full.csv
    grep -q '^changes,batch=16 + device_memory.bytes=1000000000,.*,1.12.*,1.12.*,yes' full.csv
}

@test "what the allocator keeps for itself counts: a program may run out of memory that its peak would fit into" {
    # 64 MiB from before; 16 and 24; 48 when the 16 are free again: 136 at a time, 152 in segments. With 151 the 16 go back to the driver,
    # and the next step takes its 16 and 24 from the segments of 24 and 48: when it needs 48, only the 24 can go back, and
    # 64 + 48 + 48 are too many.
    {
        typed | sed '1a {"gpu":0,"allocated_bytes":67108864}'
        echo '{"allocations":0,"bytes":[16777216,25165824,-16777216,50331648,-50331648,-25165824],"frees":[null,null,0,null,3,1]}'
    } > cached.jsonl
    memory() { # MIB
        "$GRIDTIDE" whatif -q -f json cached.jsonl --change device_memory.context_bytes=0 --change device_memory.bytes=$(($1 << 20)) |
            jq -c '.changes[0] | [.peak_memory_bytes, .reserved_memory_bytes, .out_of_memory]'
    }
    [ "$(memory 152)" = "[142606336,159383552,false]" ]
    [ "$(memory 151)" = "[142606336,159383552,true]" ]
}

@test "changes that allocate otherwise, and recordings without allocations, have no peak" {
    allocating > memory.jsonl
    "$GRIDTIDE" whatif -q -f json memory.jsonl --change graph > graph.json
    jq -e '.peak_memory_bytes > 0 and .changes[0].peak_memory_bytes == null and .changes[0].out_of_memory == null' graph.json
    typed > typed.jsonl
    "$GRIDTIDE" whatif -q -f json typed.jsonl --change batch=64 > bare.json
    jq -e '.peak_memory_bytes == null and .changes[0].peak_memory_bytes == null' bare.json
    jq -e '.changes[0].assumptions | any(contains("profile_memory=True"))' bare.json
    run "$GRIDTIDE" whatif -q -f csv typed.jsonl --change batch=64
    [[ "$output" != *peak_memory* ]]
}

@test "allocations survive being written and read" {
    for trace in "$recorded/t5.json.gz" "$GRIDTIDE_SOURCE/tests/fuzz/samples/trace.jsonl"; do
        "$GRIDTIDE" import -q "$trace" -o once.jsonl
        "$GRIDTIDE" import -q once.jsonl -o twice.jsonl
        grep -q '"allocations"' once.jsonl
        cmp once.jsonl twice.jsonl
    done
}

@test "allocations that cannot be are refused with their line" {
    refused() { # LINE REASON
        { allocating; echo "$1"; } > wrong.jsonl
        run "$GRIDTIDE" run -q wrong.jsonl -o wrong.db
        echo "$output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"wrong.jsonl"*"$2"* ]] # the line, where one line is wrong
        [ ! -e wrong.db ]
    }
    refused '{"allocations":0,"bytes":[0]}' ':8: "bytes" lists whole numbers'
    refused '{"allocations":0,"bytes":[1.5]}' ':8: "bytes" lists whole numbers'
    refused '{"allocations":0,"bytes":[9223372036854775807]}' ':8: "bytes" lists whole numbers'
    refused '{"allocations":0,"bytes":[512],"frees":[]}' '"frees" has fewer entries'
    refused '{"allocations":0,"bytes":[512],"ranges":[2]}' '"ranges" lists null and numbers of ranges above'
    refused '{"allocations":0,"bytes":[-512],"frees":[99]}' '"frees" lists null and numbers of allocations above'
    refused '{"allocations":0,"bytes":[-67108864],"frees":[0]}' 'freed already'
    refused '{"allocations":0,"bytes":[-4611686018427387904]}' 'more is freed than was allocated'
    refused '{"allocations":0,"bytes":[4611686018427387904]}' 'more than 2^62 bytes'
    refused '{"allocations":0}' 'need a list "bytes"'
}

@test "a profile's list of tensors is told by the first that has elements; memory before the first call has its operator" {
    cat > cat.json << 'END'
{"schemaVersion":1,"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::cat","pid":1,"tid":1,"ts":10,"dur":20,"args":{"External id":1,"Input Dims":[[[0],[4,8],[4,9]],[]],"Input type":["TensorList","Scalar"]}},
{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":11,"args":{"Total Allocated":1024,"Bytes":512,"Device Id":0,"Device Type":1,"Addr":4096}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":12,"dur":3,"args":{"correlation":1,"External id":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":5,"args":{"correlation":1,"External id":1,"device":0,"stream":7,"grid":[1,1,1],"block":[32,1,1]}}]}
END
    "$GRIDTIDE" import -q cat.json -o cat.jsonl
    grep -qF '"inputs":"?[4,8]+"' cat.jsonl
    grep -qF '"ranges":[0]' cat.jsonl
}

@test "a profile's damaged memory events are counted and left out" {
    zcat "$recorded/t5.json.gz" > t5.json
    "$GRIDTIDE" import -q t5.json -o whole.jsonl
    sed 's/"Bytes": -\([0-9]*\)/"Bytes": -9\10000000000/' t5.json > frees.json
    "$GRIDTIDE" import -q frees.json -o frees.jsonl
    grep -q allocations-unreadable frees.jsonl
    sed 's/"Bytes": \([0-9]\)/"Bytes": 9999999999999999\1/; s/"Device Id": 0/"Device Id": 7/' t5.json > huge.json
    "$GRIDTIDE" import -q huge.json -o huge.jsonl
    run ! grep -q '"allocations":' huge.jsonl
}

@test "recorded models at other sizes: their peak of memory is met" {
    run "$GRIDTIDE_SOURCE/validate/scripts/shapes.py" "$recorded" --only 'mistral'
    echo "$output"
    python3 - "$output" << 'END'
import re, sys
line = next(one for one in sys.argv[1].splitlines() if one.startswith("peak memory, models"))
sys.exit(not float(re.search(r"worst +([0-9.]+)", line).group(1)) < 3)
END
    [[ "$output" == *"enough memory told rightly"*"14 of 14"* ]]
}
