# gridtide import RANK0 RANK1 ...: the processes of one job as one trace; replayed together against what was recorded.

load figures_helpers
load ranks_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

# profile RANK CLOCK_US FIRST LATE_US > FILE: four all-reduces of 1 MiB in group "0", numbered from 0, of which the
# recording begins with number FIRST; its clock is CLOCK_US ahead, and its own part of number 2 begins LATE_US late.  Each ends 40 us
# after the last rank has come: rank 1 comes 10 us after rank 0, or LATE_US more.
profile() {
    python3 - "$@" << 'END'
import json, sys
rank, clock, first, late = (int(word) for word in sys.argv[1:])
events = []
for i in range(first, 4):
    came = 1000 * i + 10 * rank + (late if i == 2 else 0)
    ends = 1000 * i + 10 + 40 + (300 if i == 2 else 0)
    about = {'device': 0, 'context': 1, 'stream': 20, 'correlation': 10 + i}
    events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 7, 'tid': 7, 'ts': clock + came - 8,
                   'dur': 4, 'args': {'correlation': 10 + i}})
    events.append({'ph': 'X', 'cat': 'kernel', 'name': 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
                   'pid': 0, 'tid': 20, 'ts': clock + came, 'dur': ends - came,
                   'args': dict(about, **{'grid': [24, 1, 1], 'block': [544, 1, 1], 'registers per thread': 96,
                                'shared memory': 1000, 'Collective name': 'allreduce', 'In msg nelems': 262144,
                                'Out msg nelems': 262144, 'Group size': 2, 'dtype': 'Float', 'Process Group Name': '0',
                                'Process Group Ranks': '[0, 1]', 'Seq': i + 1})})
json.dump({'distributedInfo': {'rank': rank, 'world_size': 2}, 'traceEvents': events}, sys.stdout)
END
}

@test "ranks are told by the recordings; clocks agree where collectives end; each process has its GPU" {
    profile 0 500000 0 0 > b.json
    profile 1 20 0 300 > a.json
    run "$GRIDTIDE" import a.json b.json -o both.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"GPUs        2"* ]]
    [[ "$output" == *"group       0 [0, 1] of 2 GPUs"* ]]
    [[ "$output" != *"collectives-alone"* ]]
    # from the first call of all on, which is 8 us before rank 0's first part
    [ "$(parts both.jsonl | sort -n)" = "0 1008 50 1048576
0 2008 350 1048576
0 3008 50 1048576
0 8 50 1048576
1 1018 40 1048576
1 18 40 1048576
1 2318 40 1048576
1 3018 40 1048576" ]
}

@test "what only some recordings have stays an ordinary kernel, and so does one rank alone" {
    profile 0 0 0 0 > a.json
    profile 1 0 1 300 > b.json
    run "$GRIDTIDE" import kineto a.json b.json -o both.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"collectives-alone"*"(1 times)"* ]]
    [ "$(parts both.jsonl | wc -l)" -eq 6 ]
    run "$GRIDTIDE" import a.json -o alone.jsonl
    [[ "$output" == *"collectives-alone"*"(4 times)"* ]]
    [ -z "$(parts alone.jsonl)" ]
}

@test "collectives that nothing numbers are matched by kind, size and clock" {
    profile 0 0 0 0 | sed 's/"Seq": [0-9]*/"Seq": -1/g' > a.json
    profile 1 0 1 300 | sed 's/"Seq": [0-9]*/"Seq": -1/g' > b.json
    "$GRIDTIDE" import -q a.json b.json -o both.jsonl
    [ "$(parts both.jsonl | wc -l)" -eq 6 ]
    [ "$(parts both.jsonl | awk '$1 == 1 { print $2 + $3 }' | sort -n | xargs)" = "1058 2358 3058" ]
}

@test "wrong files among several: which one, and why" {
    profile 0 0 0 0 > a.json
    echo 'no profile' > b.json
    run "$GRIDTIDE" import a.json b.json -o both.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"b.json"* ]]
    run "$GRIDTIDE" import a.json none.json -o both.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"none.json"* ]]
    [ ! -e both.jsonl ]
}

# error NAME: how far the replay of a job's ranks together is off, in percent, without its sign
error() {
    "$GRIDTIDE" import -q "$recorded/$1.rank0.json.gz" "$recorded/$1.rank1.json.gz" -o job.jsonl
    "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
    "$GRIDTIDE" compare -f json job.db | python3 -c 'import json, sys; print(abs(json.load(sys.stdin)["makespan_us"]["error_pct"]))'
}

@test "recorded ranks replayed together are within 1.5%, and so is one whose rank 1 is late" {
    for job in mlp-exposed.ddp mlp-exposed.ddp-late-gpu mlp-exposed.ddp-late-host mlp.ddp; do
        off=$(error "$job")
        rm job.db
        echo "$job $off%"
        awk "BEGIN { exit !($off <= 1.5) }"
    done
}

# predicted NAME SPEC...: us a step of the one-GPU recording with these changes
predicted() {
    name=$1
    shift
    "$GRIDTIDE" whatif -q -f json "$recorded/$name.one.rank0.json.gz" "${@/#/--change=}" > answer.json
    python3 -c 'import json; print(json.load(open("answer.json"))["changes"][0]["step_us"])'
}

# recorded_us NAME FORM: us a step without the profiler
recorded_us() {
    python3 - "$recorded/times.jsonl" "$@" << 'END'
import json, statistics, sys
print(statistics.mean(row['step_us'] for row in map(json.loads, open(sys.argv[1]))
                      if [row['model'], row['form']] == sys.argv[2:]))
END
}

@test "steps by DistributedDataParallel are predicted within 5% where the GPU is the bound" {
    as_released
    for row in 'mlp ddp ddp=2' 'mlp ddp-bucket-5 ddp=2:bucket=5' 'mlp ddp-bucket-100 ddp=2:bucket=100' \
        'mlp ddp-accumulate-2 ddp=2 accumulate=2' 'vgg ddp ddp=2' 'vgg ddp-bucket-5 ddp=2:bucket=5' \
        'vit ddp ddp=2' 'vit ddp-bucket-5 ddp=2:bucket=5' 'mixer ddp ddp=2'; do
        # shellcheck disable=SC2086
        set -- $row
        says=$(predicted "$1" "${@:3}")
        was=$(recorded_us "$1" "$2")
        echo "$row: $says of $was us"
        awk "BEGIN { off = $says / $was - 1; exit !(off < 0.05 && off > -0.05) }"
    done
}

@test "more GPUs than were measured are called extrapolated; without sizes of gradients there is no answer but with --gradients" {
    [ "$(predicted mlp ddp=4)" != "" ]
    grep -q '"extrapolated": true' answer.json
    "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change ddp=4 | grep -q 'low, extrapolated'
    predicted mlp ddp=2
    grep -q '"extrapolated": false' answer.json
    "$GRIDTIDE" import -q "$recorded/mlp.one.rank0.json.gz" -o - | sed 's/,"gradient_bytes":[0-9]*//' > bare.jsonl
    run "$GRIDTIDE" whatif -q bare.jsonl --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"record_shapes=True"*"--gradients MIB"* ]]
    "$GRIDTIDE" whatif -q bare.jsonl --change ddp=2 --gradients 384 | grep -q '384.0 MiB of gradients'
    grep -v '"range"' bare.jsonl > plain.jsonl
    "$GRIDTIDE" whatif -q plain.jsonl --change ddp=2 --gradients 384 | grep -q 'evenly spread over the backward pass'
}

@test "ddp, accumulate and collective-sms tell what is wrong with them" {
    for spec in ddp ddp=1 ddp=x ddp=300 ddp=2:bucket ddp=2:bucket=0 ddp=2:pail=3 accumulate=0 accumulate=2.5 collective-sms=0; do
        run "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change "$spec"
        [ "$status" -ne 0 ]
        [[ "$output" == *"${spec%%[=:]*}"* ]]
    done
    run "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change ddp=2 --gradients none
    [ "$status" -eq 2 ]
    "$GRIDTIDE" import -q "$recorded/mlp.ddp.rank0.json.gz" "$recorded/mlp.ddp.rank1.json.gz" -o job.jsonl
    run "$GRIDTIDE" whatif -q job.jsonl --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"several GPUs already"* ]]
    "$GRIDTIDE" whatif -q job.jsonl --change collective-sms=4 | grep -q 'at most 4 SMs'
    run "$GRIDTIDE" whatif -q "$recorded/mlp.ddp.rank0.json.gz" --change ddp=2
    [ "$status" -eq 1 ]
    [[ "$output" == *"one rank of several"* ]]
    run "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change collective-sms=4
    [ "$status" -eq 1 ]
    [[ "$output" == *"no collectives"* ]]
    "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change ddp=2:bucket=1000 --change collective-sms=4 | grep -q 'in 1 bucket,'
}

@test "a step of several ranks is one rank's, not a share of all of theirs" {
    "$GRIDTIDE" import -q "$recorded"/mlp.ddp.rank{0,1}.json.gz -o job.jsonl
    "$GRIDTIDE" whatif -q --format json job.jsonl --change collective-sms=32 > answer.json
    # 4,264 us without the profiler (times.jsonl)
    jq -e '.steps == 3 and .step_us > 4100 and .step_us < 4400' answer.json
}

@test "a first word that is no file is a format, or a file that is missing, by its look" {
    run "$GRIDTIDE" import kineto
    [ "$status" -eq 2 ]
    [[ "$output" == *"name a file to import after 'kineto'"* ]]
    profile 0 0 0 0 > a.json
    run "$GRIDTIDE" import missing.json a.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"missing.json: cannot open"* ]]
    run "$GRIDTIDE" import kinetic a.json
    [ "$status" -eq 2 ]
    [[ "$output" == *"format 'kinetic'"* ]]
}

@test "explain says which rank is the straggler, and what it did meanwhile" {
    for job in late-gpu late-host; do
        "$GRIDTIDE" import -q "$recorded/mlp-exposed.ddp-$job".rank{0,1}.json.gz -o "$job.jsonl"
        "$GRIDTIDE" run -q "$job.jsonl" -o "$job.db" > /dev/null
        "$GRIDTIDE" explain -f json "$job.db" > "$job.json"
        jq -e '.ranks | length == 2 and (.[1].kept_others_us > 10 * .[0].kept_others_us)' "$job.json"
        jq -e '.findings[] | select(.finding == "straggler") | .what | startswith("GPU 1 was last in")' "$job.json"
    done
    jq -e '.findings[] | select(.finding == "straggler") | .what | test("meanwhile this GPU ran .*spin_kernel")' late-gpu.json
    jq -e '.findings[] | select(.finding == "straggler") | .what | test("cause: host-work")' late-host.json
    "$GRIDTIDE" report -q late-gpu.db -o page
    grep -q 'Collectives, GPU by GPU' page/index.html
    grep -q 'Ranks over time' page/index.html
    grep -q 'The straggler is GPU 1' page/index.html
    [ -s page/ranks.svg ] && [ -s page/ranks.png ]
    grep -q 'GPU 1 was last in' page/index.html
}

@test "a rank on another kind of GPU is told" {
    on() { python3 -c 'import json, sys
profile = json.load(sys.stdin)
profile["deviceProperties"] = [{"id": 0, "name": sys.argv[1], "totalGlobalMem": 1}]
print(json.dumps(profile))' "$1"; }
    profile 0 0 0 0 | on "NVIDIA H200" > a.json
    profile 1 20 0 0 | on "NVIDIA A100-SXM4-80GB" > b.json
    profile 1 20 0 0 | on "NVIDIA H200" > c.json
    run "$GRIDTIDE" import a.json b.json -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"ranks-on-other-gpus: "*"(1 times)"* ]]
    run "$GRIDTIDE" import a.json c.json -o job.jsonl
    [[ "$output" != *"ranks-on-other-gpus"* ]]
}

@test "a rank that is given twice, or a file of another job, is refused by name" {
    profile 0 0 0 0 > a.json
    profile 1 20 0 0 > b.json
    cp a.json again.json
    "$GRIDTIDE" import -q a.json b.json -o job.jsonl
    rm job.jsonl
    run "$GRIDTIDE" import a.json b.json again.json -o job.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"a.json and again.json both belong to rank 0"* ]]
    sed 's/"world_size": 2/"world_size": 4/; s/"rank": 1/"rank": 3/' b.json > other.json
    run "$GRIDTIDE" import a.json other.json -o job.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"other.json belongs to a job of 4 ranks, a.json to a job of 2 ranks"* ]]
    sed 's/^{/{"baseTimeNanoseconds": 1700000000000000000, /' a.json > early.json
    sed 's/^{/{"baseTimeNanoseconds": 1700090000000000000, /' b.json > late.json
    run "$GRIDTIDE" import late.json early.json -o job.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"late.json was recorded 25.0 hours after early.json"* ]]
    [ ! -e job.jsonl ]
    # one without anything in it is of no time
    echo '{"distributedInfo": {"rank": 1, "world_size": 2}, "traceEvents": []}' > empty.json
    run "$GRIDTIDE" import a.json empty.json -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"no-gpu-work"* ]]
}

@test "a rank's file that is cut off is refused by name, wherever it is cut" {
    profile 0 0 0 0 > a.json
    profile 1 20 0 0 > b.json
    gzip -k b.json
    for part in 1 10 50 90 99; do
        for file in b.json b.json.gz; do
            head -c "$(($(stat -c %s "$file") * part / 100))" "$file" > "cut.$part.$file"
            run "$GRIDTIDE" import a.json "cut.$part.$file" -o job.jsonl
            echo "$output"
            [ "$status" -eq 1 ]
            [[ "$output" == *"cut.$part.$file"* ]]
            [ ! -e job.jsonl ]
        done
    done
}

@test "ranks that were not given, and steps that only some recorded, are told" {
    profile 0 0 0 0 | sed 's/"world_size": 2/"world_size": 4/' > a.json
    profile 1 20 0 0 | sed 's/"world_size": 2/"world_size": 4/' > b.json
    run "$GRIDTIDE" import a.json b.json -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"ranks-missing: "*"the first of them rank 2 of 4"*"(2 times)"* ]]
    python3 - << 'END'
import json
for name, steps in ('a', 4), ('b', 3):
    trace = json.load(open(f'{name}.json'))
    for i in range(steps):
        trace['traceEvents'].append({'ph': 'X', 'cat': 'user_annotation', 'name': f'ProfilerStep#{i}', 'pid': 7, 'tid': 7,
                                     'ts': 1000 * i - 20, 'dur': 990})
    json.dump(trace, open(f'{name}.steps.json', 'w'))
END
    run "$GRIDTIDE" import a.steps.json b.steps.json -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"steps-differ: "*"(1 times)"* ]]
    run "$GRIDTIDE" import a.steps.json a.steps.json -o job.jsonl
    [ "$status" -eq 1 ]
}
