# What collectives of several ranks wait for, and what they hide behind, as explain and the report have it.

load ranks_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

@test "ranks that are alike wait for nobody: their collectives are told, hidden and exposed, all the same" {
    "$GRIDTIDE" whatif -q "$recorded/mlp.one.rank0.json.gz" --change ddp=2 -o answer.db > /dev/null
    [ "$(sqlite3 answer.db "SELECT group_concat(DISTINCT kind || ' ' || ranks) FROM kernel_collective")" = 'all_reduce 2' ]
    "$GRIDTIDE" explain -f json answer.db > explain.json
    jq -e '.ranks | length == 2 and all(.[]; .collectives > 10 and .last == 0 and .waited_us == 0
        and .hidden_us > 10 * .exposed_us and .exposed_us > 0 and .hidden_pct > 90 and .hidden_pct < 100)' explain.json
    "$GRIDTIDE" report -q answer.db -o page
    grep -q 'Ranks over time' page/index.html
    # A store of before knows no collectives.
    sqlite3 answer.db 'DROP TABLE kernel_collective; PRAGMA user_version = 8'
    "$GRIDTIDE" explain -f json answer.db | jq -e '.ranks | length == 0'
}

# two_ranks KIND > FILE: an all-reduce of two ranks, of which rank 1 comes late by what KIND says
two_ranks() {
    python3 - "$1" << 'END'
import json, sys
rows = [{'gridtide': 1, 'name': sys.argv[1], 'device': 'h200'}, {'group': 'world', 'gpus': [0, 1]}]
for gpu in 0, 1:
    rows += [{'stream': f'compute{gpu}', 'gpu': gpu}, {'stream': f'comm{gpu}', 'gpu': gpu}]
rows += [{'kernel': 'product', 'grid': 264, 'block': 1024, 'registers': 64, 'dynamic_shared_bytes': 100000, 'block_us': 200},
         {'kernel': 'bucket', 'collective': 'all_reduce', 'group': 'world', 'bytes': 1 << 24}]
rows += {'room': [{'call': 'launch', 'thread': 1, 'kernel': 'product', 'stream': 'compute1'}],
         'stream': [{'call': 'launch', 'thread': 1, 'kernel': 'product', 'stream': 'comm1'}],
         'host': [{'call': 'host_work', 'thread': 1, 'duration_us': 400}], 'on_time': []}[sys.argv[1]]
rows += [{'call': 'launch', 'thread': gpu, 'kernel': 'bucket', 'stream': f'comm{gpu}'} for gpu in (0, 1)]
print('\n'.join(map(json.dumps, rows)))
END
}

@test "explain says what a collective waited for: a product that holds the SMs, one in its stream, or a late host" {
    while IFS='|' read -r kind why what; do
        two_ranks "$kind" > "$kind.jsonl"
        "$GRIDTIDE" run -q "$kind.jsonl" -o "$kind.db" > /dev/null
        "$GRIDTIDE" explain -f json "$kind.db" > "$kind.json"
        cat "$kind.json"
        jq -e --arg why "$why" '.ranks[1] | .held_up_by == $why and .last == 1 and .kept_others_us > 350' "$kind.json"
        jq -e '.ranks[0] | .last == 0 and .waited_us > 350 and .hidden_pct == 0' "$kind.json"
        jq -e --arg what "$what" '.findings[] | select(.finding == "straggler") | .what | contains($what)' "$kind.json"
    done << 'END'
room|resource|cause: resource: waiting for: product in stream compute1
stream|stream|cause: stream: previous operation of the stream: product in stream comm1
host|host-work|cause: host-work: host code of thread 1
END
    two_ranks on_time > on_time.jsonl
    "$GRIDTIDE" run -q on_time.jsonl -o on_time.db > /dev/null
    "$GRIDTIDE" explain -f json on_time.db > on_time.json
    jq -e '[.findings[] | select(.finding == "straggler")] == []' on_time.json
}

# export_of_nsys FILE SQL: the small export of Nsight Systems with two all-reduces for its kernels, changed by SQL
export_of_nsys() {
    sqlite3 "$1" < "$GRIDTIDE_SOURCE/tests/fuzz/samples/nsys.sql"
    sqlite3 "$1" "UPDATE StringIds SET value = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)' WHERE id IN (6, 7); $2"
}

@test "ranks recorded by Nsight Systems: an export a process, or one export of both" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to make exports with"
    later='start = start + 700000, end = end + 700000'
    export_of_nsys rank0.sqlite ''
    export_of_nsys rank1.sqlite "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start + 2000 WHERE correlationId = 2;
        UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET $later; UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET $later;
        UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET $later; UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET $later"
    run "$GRIDTIDE" import rank0.sqlite rank1.sqlite -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"group       nccl of 2 GPUs"* ]]
    [[ "$output" != *"collectives-alone"* ]]
    # rank 1's clock is 700 us ahead; its first part begins 2 us later than rank 0's
    [ "$(parts job.jsonl | sort -n | awk '{ print $1, $2, $3 }')" = "0 15 9
0 8 6
1 10 4
1 15 9" ]
    export_of_nsys both.sqlite "CREATE TEMP TABLE r AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME;
        UPDATE r SET globalTid = globalTid + 16777216; INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM r;
        CREATE TEMP TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;
        UPDATE k SET globalPid = globalPid + 16777216, deviceId = 1; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k"
    run "$GRIDTIDE" import both.sqlite -o both.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"GPUs        2"* ]]
    [[ "$output" == *"group       nccl of 2 GPUs"* ]]
    [ "$(parts both.jsonl | wc -l)" -eq 4 ]
    # CUDA_VISIBLE_DEVICES gives each process one GPU, which it calls 0
    export_of_nsys visible.sqlite "CREATE TEMP TABLE r AS SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME;
        UPDATE r SET globalTid = globalTid + 16777216; INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT * FROM r;
        CREATE TEMP TABLE k AS SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL;
        UPDATE k SET globalPid = globalPid + 16777216; INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM k;
        CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT);
        INSERT INTO TARGET_INFO_CUDA_DEVICE SELECT DISTINCT (globalTid >> 24 & 1), 0, globalTid >> 24 & 16777215, ''
            FROM CUPTI_ACTIVITY_KIND_RUNTIME"
    run "$GRIDTIDE" import visible.sqlite -o visible.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"GPUs        2"* ]]
    [[ "$output" == *"group       nccl of 2 GPUs"* ]]
    printf 'SQLite format 3\0' > cut.sqlite
    run "$GRIDTIDE" import rank0.sqlite cut.sqlite -o job2.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"cut.sqlite"* ]]
}
