# gridtide import RANK0 RANK1 ... of made-up jobs (tests/data/job.py): sharded, tensor-parallel and in a pipeline, 4 and 8 ranks.
# Their times follow from a few rules, which are those of the simulator but for SMs; so a replay is near them.

load ranks_helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

job() {
    python3 "$GRIDTIDE_SOURCE/tests/data/job.py" "$@"
}

# plays FILE...: imports them as job.jsonl, runs that as job.db; what import said is in job.txt; the makespan is within 0.5%
plays() {
    "$GRIDTIDE" import "$@" -o job.jsonl > job.txt 2>&1
    cat job.txt
    rm -f job.db
    "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
    "$GRIDTIDE" compare -f json job.db | jq -e '.makespan_us | .error_pct | fabs < 0.5'
}

groups() {
    jq -r 'select(.group and .gpus) | .gpus | map(tostring) | join(",")' job.jsonl | sort | xargs
}

@test "tensor- and data-parallel groups are told apart, whoever says what a collective is" {
    for says in kernel operator sizes; do
        job "$says" tensor 4 "says=$says" clock=54321
        plays "$says"/rank{3,0,1,2}.json
        [ "$(groups)" = "0,1 0,2 1,3 2,3" ]
        [ "$(parts job.jsonl | wc -l)" -eq 72 ] # 4 ranks, 3 steps, 4 and 2 collectives
        [ "$(parts job.jsonl | awk '{ print $4 }' | sort -n | uniq | xargs)" = "2097152 16777216" ]
        if [ "$says" = sizes ]; then
            grep -q 'groups-unnamed' job.txt
        else
            ! grep -q 'groups-unnamed' job.txt
        fi
        ! grep -q 'collectives-alone' job.txt
    done
}

@test "where nothing says whose collectives are, groups of which others come at other times are told apart" {
    job job tensor 8 says=nothing
    plays job/*
    # The data-parallel ones end at one time, all of them: nothing tells these two from each other.
    [ "$(groups)" = "0,1 0,1,2,3,4,5,6,7 2,3 4,5 6,7" ]
    grep -q 'groups-unnamed' job.txt
}

@test "some of the ranks: groups that are whole are joined, of the others it is told who is missing" {
    job job tensor 8
    "$GRIDTIDE" import job/rank{5,0,1,4,3}.json -o job.jsonl > job.txt 2>&1
    [ "$(groups)" = "0,1 4,5" ]
    grep -q 'ranks-missing: .*the first of them rank 2 of 8.*(3 times)' job.txt
    grep -q 'collectives-alone' job.txt
}

@test "sharded: streams of one group, events as they come, a late rank; who kept whom waiting, and how long" {
    job job fsdp 4 streams=2 shuffled=1 clock=12345 late=2:700
    plays job/*
    [ "$(groups)" = "0,1,2,3" ]
    "$GRIDTIDE" explain -f json job.db > explain.json
    # 700 us in each of 3 steps, of which rank 2 itself waits for nobody
    jq -e '.ranks | .[2].waited_us < 50 and .[2].kept_others_us > 3 * 2090 and .[2].kept_others_us < 3 * 2130
        and all(.[0, 1, 3]; .waited_us > 2090 and .waited_us < 2130)' explain.json
    jq -e '.findings[] | select(.finding == "straggler") | .what | startswith("GPU 2 was last in") and
        contains("3 GPUs for 7") and contains("us each")' explain.json
}

@test "a collective that one recording lost is played as it was recorded; the others are joined all the same" {
    job job fsdp 4
    python3 - << 'END'
import json
trace = json.load(open('job/rank1.json'))
lost = [event for event in trace['traceEvents'] if event['cat'] == 'kernel' and event['name'].startswith('nccl')][7]
trace['traceEvents'].remove(lost)
json.dump(trace, open('job/rank1.json', 'w'))
END
    "$GRIDTIDE" import job/* -o job.jsonl > job.txt 2>&1
    [ "$(parts job.jsonl | wc -l)" -eq $((4 * 17)) ]
    grep -q 'collectives-alone: .*(3 times)' job.txt
    "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
}

@test "messages of a pipeline stay kernels that last as recorded, collectives beside them are joined" {
    job job pipeline 4
    "$GRIDTIDE" import -q job/* -o job.jsonl
    [ "$(groups)" = "0,1,2,3" ]
    [ "$(parts job.jsonl | wc -l)" -eq 12 ]
    "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
    "$GRIDTIDE" compare -f json job.db | jq -e '.makespan_us | .error_pct | fabs < 2'
}

@test "a job's ranks can be changed, each kept in its order: fewer SMs, a late rank, slower calls" {
    job job tensor 4
    "$GRIDTIDE" import -q job/* -o job.jsonl
    for change in collective-sms=2 chip.sms=66 delay=3:500:gpu 'kernel=product*0.3'; do
        "$GRIDTIDE" whatif -q -f json job.jsonl --change "$change" > answer.json
        jq -e --arg change "$change" '.changes[0] | .change == $change and .predicted_us > 0' answer.json
    done
}

@test "kernels of one name that last otherwise on other ranks stay so, without the profiler too" {
    job job tensor 8
    "$GRIDTIDE" import -q job/* -o job.jsonl
    # products take 200 to 350 us in the forward pass, 50 more from pair to pair
    "$GRIDTIDE" whatif -q -f json job.jsonl --change kernel=optimiser*1 |
        jq -e '(.baseline_us / .replay_us - 1) * 100 | fabs < 2'
}

@test "collectives whose size nobody recorded take as long as before with fewer SMs, which is told" {
    job job fsdp 2 says=nothing
    "$GRIDTIDE" import -q job/* -o job.jsonl
    "$GRIDTIDE" whatif -q job.jsonl --change collective-sms=2 > answer.txt
    grep -q 'have no size in the trace' answer.txt
    grep -q '^collective-sms=2 .* low ' answer.txt
    job sized fsdp 2
    "$GRIDTIDE" import -q sized/* -o sized.jsonl
    ! "$GRIDTIDE" whatif -q sized.jsonl --change collective-sms=2 | grep 'have no size in the trace'
}

@test "one rank of a job is refused by changes to several GPUs for what it is, not for what else it lacks" {
    job job fsdp 2 says=nothing
    "$GRIDTIDE" import -q job/rank1.json -o one.jsonl
    for change in ddp=2 accumulate=2; do
        run "$GRIDTIDE" whatif -q one.jsonl --change "$change"
        [ "$status" -eq 1 ]
        [[ "$output" == *"one rank of several"* ]]
    done
}

@test "of each GPU the hidden and the exposed are all of its collectives' time" {
    for ranks in 2 8; do
        job "$ranks" tensor "$ranks" late=1:300
        "$GRIDTIDE" import -q "$ranks"/* -o job.jsonl
        rm -f job.db
        "$GRIDTIDE" run -q job.jsonl -o job.db > /dev/null
        sqlite3 -json job.db "SELECT s.gpu_no AS gpu, sum(r.end_ps - r.start_ps) / 1e6 AS us FROM run_op r
            JOIN op o USING (op_no) JOIN stream s USING (stream_no) JOIN kernel_collective c USING (kernel_no)
            WHERE r.run_id = (SELECT max(run_id) FROM run) GROUP BY 1 ORDER BY 1" > sums.json
        "$GRIDTIDE" explain -f json job.db > explain.json
        jq -e -s --argjson ranks "$ranks" '(.[0] | length) == $ranks and ([.[0], .[1].ranks] | transpose | all(.[0].gpu == .[1].gpu and
            (.[0].us - .[1].hidden_us - .[1].exposed_us | fabs) < 0.01))' sums.json explain.json
    done
    # and the report has a lane for each of them
    "$GRIDTIDE" report -q job.db -o page
    for gpu in 0 1 2 3 4 5 6 7; do
        grep -q ">GPU $gpu<" page/ranks.svg
    done
    grep -q 'The straggler is GPU' page/index.html
}

# late KIND > FILE: four ranks' all-reduce of 20 us behind 100 us of work, of which rank 2 comes 400 us later than the others
late() {
    python3 - "$1" << 'END'
import json, sys
rows = [{'gridtide': 1, 'name': sys.argv[1], 'device': 'toy'}, {'group': 'world', 'gpus': [0, 1, 2, 3]}]
for gpu in range(4):
    rows += [{'stream': f'compute{gpu}', 'gpu': gpu}, {'stream': f'comm{gpu}', 'gpu': gpu}, {'event': f'done{gpu}'}]
rows += [{'kernel': 'work', 'grid': 2, 'block': 32, 'block_us': 100}, {'kernel': 'late', 'grid': 1, 'block': 32, 'block_us': 400},
         {'kernel': 'sum', 'collective': 'all_reduce', 'group': 'world', 'bytes': 1024, 'duration_us': 20}]
rows += {'host': [{'call': 'host_work', 'thread': 2, 'duration_us': 400}],
         'gpu': [{'call': 'launch', 'thread': 2, 'kernel': 'late', 'stream': 'compute2'}]}[sys.argv[1]]
for gpu in range(4):
    rows += [{'call': 'launch', 'thread': gpu, 'kernel': 'work', 'stream': f'compute{gpu}'},
             {'call': 'event_record', 'thread': gpu, 'stream': f'compute{gpu}', 'event': f'done{gpu}'},
             {'call': 'event_wait', 'thread': gpu, 'stream': f'comm{gpu}', 'event': f'done{gpu}'},
             {'call': 'launch', 'thread': gpu, 'kernel': 'sum', 'stream': f'comm{gpu}'}]
print('\n'.join(map(json.dumps, rows)))
END
}

@test "a rank that is late by 400 us keeps each of three others 400 us, 1,200 us together" {
    while IFS='|' read -r kind why; do
        late "$kind" > "$kind.jsonl"
        "$GRIDTIDE" run -q "$kind.jsonl" -o "$kind.db" > /dev/null
        "$GRIDTIDE" explain -f json "$kind.db" > "$kind.json"
        # Work from 1 to 101, then the others wait; rank 2's from 401 to 501; the data moves from there to 521.
        jq -e --arg why "$why" '.limit.path_us == 521 and (.ranks[2] | .held_up_by == $why and .last == 1 and .waited_us == 0
            and .kept_others_us == 1200 and .exposed_us == 20)' "$kind.json"
        jq -e '.ranks | all(.[0, 1, 3]; .waited_us == 400 and .exposed_us == 420 and .kept_others_us == 0)' "$kind.json"
        jq -e '.findings[] | select(.finding == "straggler") | .what | startswith("GPU 2 was last in 1 of 1 collectives")
            and contains("1.20 ms") and contains("3 GPUs for 400 us each") and contains("sum in stream comm2")' "$kind.json"
    done << 'END'
host|host-work
gpu|event
END
}
