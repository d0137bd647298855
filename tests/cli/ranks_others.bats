# gridtide import RANK0 RANK1 ... of recordings that are not like ours: other years' names, other clocks, no names at all.

load ranks_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    recorded=$GRIDTIDE_SOURCE/traces/training
}

# like RANK [OF [SHIFT_US]] < PYTHON > FILE: the recording of mlp.ddp's rank RANK modulo 2 as that of rank RANK of OF, its clock
# SHIFT_US ahead, changed by PYTHON: `trace` is the profile, `events` and `nccl` are its events and the kernels of collectives
# of those, `no_arguments()` takes off what these say of their collective.
like() {
    python3 -c '
import gzip, json, sys
name, rank, ranks, shift = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
with gzip.open(f"{name}/mlp.ddp.rank{rank % 2}.json.gz") as file:
    trace = json.load(file)
events = trace["traceEvents"]
nccl = [event for event in events if event.get("cat") == "kernel" and event["name"].startswith("nccl")]
trace["distributedInfo"].update(rank=rank, world_size=ranks)
for event in events:
    if "ts" in event:
        event["ts"] += shift
    if "Process Group Ranks" in event.get("args", {}):
        event["args"].update({"Process Group Ranks": str(list(range(ranks))), "Group size": ranks})
def no_arguments():
    for event in nccl:
        for key in [key for key in event["args"] if key[0].isupper() or key in ("dtype",)]:
            del event["args"][key]
exec(sys.stdin.read())
json.dump(trace, sys.stdout)' "$recorded" "$1" "${2-2}" "${3-0}"
}

# joined FILE...: imports them; how many collectives each GPU has a part of, and whether the parts end within 60 us of each other
joined() {
    "$GRIDTIDE" import -q "$@" -o job.jsonl
    parts job.jsonl | python3 -c '
import collections, statistics, sys
ends = collections.defaultdict(list)
for line in sys.stdin:
    gpu, start, duration, size = line.split()
    ends[gpu].append(int(start) + int(duration))
meetings = list(zip(*(sorted(end) for end in ends.values())))
apart = statistics.median(max(meeting) - min(meeting) for meeting in meetings)
print(*sorted({len(end) for end in ends.values()}), "near" if apart < 60 else f"{apart} us apart")'
}

@test "ranks whose clocks are several steps apart meet in the same steps, which the profiler numbers" {
    for rank in 0 1 2 3; do
        like "$rank" 4 "$((rank * 12345))" < /dev/null > "rank$rank.json"
    done
    [ "$(joined rank3.json rank0.json rank2.json rank1.json)" = "24 near" ]
    "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
    "$GRIDTIDE" compare -f json job.db | jq -e '.makespan_us.error_pct | fabs < 1.5'
}

@test "names of collectives' kernels of all years, with nothing beside them" {
    for name in 'ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)' 'ncclAllReduceRingLLKernel_sum_f32(ncclColl)' \
        'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)'; do
        for rank in 0 1; do
            like "$rank" << END > "rank$rank.json"
no_arguments()
for event in nccl:
    event["name"] = "$name"
del trace["distributedInfo"]
END
        done
        [ "$(joined rank0.json rank1.json)" = "24 near" ]
    done
    run "$GRIDTIDE" import rank0.json rank1.json -o job.jsonl
    [[ "$output" == *"group       nccl of 2 GPUs"* ]]
    [[ "$output" != *"groups-unnamed"* ]]
}

# pairs RANK > FILE: 20 all-reduces of a job's four ranks, and beside them as many of ranks 0 and 1 and of ranks 2 and 3, which are
# late each in their own way; no kernel says whose it is.
pairs() {
    python3 - "$1" << 'END'
import json, sys
rank, events = int(sys.argv[1]), []
for number in range(20):
    late = (number * (37 if rank < 2 else 53) % 11) * 60
    for stream, start in (20, 2000 * number + 1000), (30, 2000 * number + late):
        events.append({'ph': 'X', 'cat': 'kernel', 'name': 'ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)', 'pid': 0,
                       'tid': stream, 'ts': start + 5 * rank, 'dur': 100 - 5 * rank + number % 3,
                       'args': {'device': 0, 'context': 1, 'stream': stream, 'grid': [8, 1, 1], 'block': [512, 1, 1]}})
json.dump({'traceEvents': events}, sys.stdout)
END
}

@test "groups that nothing names are told by who ends together, and that this was done is told" {
    for rank in 0 1 2 3; do
        pairs "$rank" > "rank$rank.json"
    done
    run "$GRIDTIDE" import rank2.json rank1.json rank0.json rank3.json -o job.jsonl
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(grep -c '^  group       nccl.* of 4 GPUs' <<< "$output")" -eq 1 ]
    [ "$(grep -c '^  group       nccl.* of 2 GPUs' <<< "$output")" -eq 2 ]
    [[ "$output" == *"groups-unnamed: "*"(60 times)"* ]]
    [[ "$output" != *"collectives-alone"* ]]
}

@test "a group's ranks may be a list, too: groups of one name are told apart by them" {
    for rank in 0 1 2 3; do
        like "$rank" 4 << END > "rank$rank.json"
for event in nccl:
    if "Process Group Ranks" in event["args"]:
        event["args"].update({"Process Group Ranks": [0, 1] if $rank < 2 else [2, 3], "Group size": 2})
END
    done
    run "$GRIDTIDE" import rank0.json rank1.json rank2.json rank3.json -o job.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"group       0 [0, 1] of 2 GPUs"*"group       0 [2, 3] of 2 GPUs"* ]]
}

@test "a recording that does not say its rank is refused the second time, gzipped or not" {
    like 0 <<< 'del trace["distributedInfo"]' > rank0.json
    gzip -c rank0.json > again.json.gz
    run "$GRIDTIDE" import rank0.json again.json.gz -o job.jsonl
    [ "$status" -eq 1 ]
    [[ "$output" == *"rank0.json and again.json.gz are the same recording; "* ]]
    [ ! -e job.jsonl ]
}
