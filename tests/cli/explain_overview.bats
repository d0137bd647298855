# What explain says first: what bounds a step, where its time goes, what would help, and what that would gain.
# The times of tests/data/kineto-loader.json are worked out in kineto-loader.txt.

setup() {
    command -v jq > /dev/null || skip "no jq"
    cd "$BATS_TEST_TMPDIR"
}

# run_of FILE [OPTION...]: into run.db
run_of() {
    "$GRIDTIDE" run -q "$1" -o run.db "${@:2}" > /dev/null 2>&1
}

loader() {
    run_of "$GRIDTIDE_SOURCE/tests/data/kineto-loader.json"
}

# Traces with operators, and with several processes and GPUs.
several_traces() {
    for name in training/loaded-90907.one.rank0 training/mlp-exposed.ddp.rank0 \
        pairs/encoder-small.eager pairs/readback-training.each pairs/feeds-images.pageable pairs/lstm-small.eager; do
        echo "$GRIDTIDE_SOURCE/traces/$name.json.gz"
    done
    echo "$GRIDTIDE_SOURCE/tests/data/kineto-loader.json"
    ls "$GRIDTIDE_SOURCE"/../shared/traces/kineto/*alexnet*.json.gz "$GRIDTIDE_SOURCE"/../shared/traces/kineto/ns_*.json.gz 2> /dev/null || true
}

@test "a loop that loads data half of its time is bound by that, and the loader is named first" {
    loader
    run "$GRIDTIDE" explain run.db
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -le 25 ]
    grep -q '^bound by data loading: 50% of a step$' <<< "$output"
    first=$(grep '^1\. ' <<< "$output")
    [[ "$first" == *"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"* ]]
    [[ "$output" != *"gridtide whatif"* ]]
}

@test "the breakdown of a step is as worked out by hand, measured and simulated" {
    loader
    for run in measured simulated; do
        "$GRIDTIDE" stats --run "$run" --format json run.db > stats.json 2> /dev/null
        jq -e '[.breakdown_steps[].counted] == [1, 1, 1]' stats.json
        jq -e '.breakdown_steps | all(.time_us == 10000 and .computation_us == 2600 and .copies_us == 52
            and .data_loading_us == 5000 and .launch_us == 40 and .idle_us == 40 and .communication_us == 0)' stats.json
    done
    "$GRIDTIDE" stats --run measured --format json run.db 2> /dev/null |
        jq -e '.breakdown_steps | all(.synchronisation_us == 31 and .host_us == 2237)'
    "$GRIDTIDE" explain --format json run.db 2> /dev/null > explain.json
    "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
    [ "$(jq -c '.breakdown, .breakdown_steps' explain.json)" = "$(jq -c '.breakdown, .breakdown_steps' stats.json)" ]
}

@test "the first step is left out of sums where the time before its first call was not kept" {
    run_of "$GRIDTIDE_SOURCE/traces/pairs/encoder-small.eager.json.gz"
    "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
    jq -e '[.breakdown_steps[].counted] == [0, 1, 1, 1]
        and (([.breakdown[].time_us] | add) - ([.breakdown_steps[1:][].time_us] | add) | fabs < 0.01)' stats.json
    "$GRIDTIDE" explain run.db | grep -q ': 3 steps of .* (the first step starts before'
}

@test "the parts add up to each step, of each process and GPU" {
    for trace in $(several_traces); do
        run_of "$trace"
        for run in measured simulated; do
            "$GRIDTIDE" stats --run "$run" --format json run.db 2> /dev/null > stats.json
            jq -e '.breakdown_steps | length > 0 and all((.computation_us + .communication_us + .copies_us + .launch_us +
                .data_loading_us + .host_us + .synchronisation_us + .idle_us - .time_us) | fabs < 0.001)' stats.json \
                || { echo "$trace $run"; false; }
            jq -e '([.breakdown[].pct] | add) as $all | $all > 99.5 and $all < 100.5' stats.json
        done
    done
}

# An operator that waits for its turn, or whose successor comes late, is charged for no more than it lasts.
@test "the host time of an operator is at most the length of its ranges" {
    for trace in $(several_traces); do
        run_of "$trace"
        "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
        "$GRIDTIDE" explain --no-predict --format json run.db 2> /dev/null > explain.json
        lanes=$(jq '[.breakdown_steps[] | [.process, .gpu]] | unique | length' stats.json)
        jq -n -e --argjson lanes "$lanes" --slurpfile stats stats.json --slurpfile explain explain.json '
            (reduce $stats[0].operators[] as $o ({}; .[$o.name] += $o.host_us)) as $length |
            ([$explain[0].operators[] | select(.operator != "host code outside operators") |
                {name: .operator, us: .host_us, most: $length[.operator]}] +
             [$explain[0].host_while_idle | group_by(.name)[] | select(.[0].name != "host code outside operators") |
                {name: .[0].name, us: (map(.time_us) | add), most: ($lanes * $length[.[0].name])}]) |
            length > 0 and all(.us <= .most + 0.01)' || { echo "$trace"; false; }
    done
}

@test "who launches what: a tree of operators and kernels" {
    loader
    "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
    jq -e '.launch_tree as $tree | $tree[] | select(.name == "gemm") | .kind == "kernel" and .count == 24 and .gpu_us == 7200
        and ($tree[.parent] | .name == "aten::mm" and .launches == 24 and .gpu_us == 7200 and .host_us == 960
            and ($tree[.parent] | .name == "aten::linear" and .parent == null and .count == 24 and .host_self_us == 480))' stats.json
    # whatever is launched is below a root, once
    for trace in $(several_traces); do
        run_of "$trace"
        "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
        jq -e '([.launch_tree[] | select(.parent == null) | .launches] | add) == .summary.operations - .summary.host_functions' stats.json
        jq -e '.launch_tree as $tree | [range($tree | length)] | all($tree[.].node == . and
            ($tree[.].parent == null or $tree[.].parent < .))' stats.json
    done
    run "$GRIDTIDE" explain --full --top 4 run.db
    [ "$(sed -n '/^launch_tree$/,/^$/p' <<< "$output" | grep -c .)" -eq 6 ] # its name, its headings, four rows
    grep -qx breakdown_steps <<< "$output"
}

@test "each rank of a job has a breakdown of its own" {
    for rank in 0 1; do
        cp "$GRIDTIDE_SOURCE/traces/training/mlp-exposed.ddp.rank$rank.json.gz" .
    done
    "$GRIDTIDE" import -q mlp-exposed.ddp.rank?.json.gz -o job.jsonl > /dev/null 2>&1
    run_of job.jsonl
    "$GRIDTIDE" explain run.db | grep -q ' on 2 GPUs'
    "$GRIDTIDE" stats --format json run.db 2> /dev/null > stats.json
    jq -e '.breakdown_ranks | length == 2 and (map(.gpu) == [0, 1]) and all(.communication_us > 500 and .steps >= 2)' stats.json
    jq -e '(.breakdown_ranks | map(.step_us * .steps) | add) - ([.breakdown[].time_us] | add) | fabs < 0.01' stats.json
}

@test "at most 25 lines for people, whatever the trace" {
    for trace in $(several_traces) "$GRIDTIDE_SOURCE"/traces/samples/*.json.gz; do
        run_of "$trace"
        run "$GRIDTIDE" explain run.db
        [ "$status" -eq 0 ]
        [ "$(wc -l <<< "$output")" -le 25 ] || { echo "$trace"; false; }
    done
}

@test "a recommended change comes with what whatif says it gains" {
    trace=$GRIDTIDE_SOURCE/traces/pairs/feeds-images.pageable.json.gz
    run_of "$trace"
    "$GRIDTIDE" explain --format json run.db 2> /dev/null > explain.json
    jq -e '.advised[] | select(.finding == "copies") | .of == "step" and .gain_pct > 10 and .trust != null
        and .interval_low_us < .predicted_us and .predicted_us < .interval_high_us' explain.json
    ask=$(jq -r '.advised[] | select(.finding == "copies") | .ask' explain.json)
    eval "'$GRIDTIDE' ${ask#gridtide } -q --format json" > whatif.json
    jq -n -e --slurpfile e explain.json --slurpfile w whatif.json '$e[0].advised[] | select(.finding == "copies") |
        .predicted_us == $w[0].changes[0].step_us and .baseline_us == $w[0].step_us'
    # what gains nothing is not recommended
    jq -e '[.advised[] | select(.ask != null)] | all(.gain_pct >= 1)' explain.json
    jq -e '[.advised[].ask | select(. != null)] | length == (unique | length)' explain.json
}

@test "without the trace, or with another in its place, findings come without gains" {
    cp "$GRIDTIDE_SOURCE/traces/pairs/feeds-images.pageable.json.gz" mine.json.gz
    run_of mine.json.gz
    mkdir elsewhere
    cd elsewhere # the store knows where it was
    "$GRIDTIDE" explain --format json ../run.db 2> /dev/null | jq -e '[.advised[].gain_pct | select(. != null)] | length > 0'
    cd ..
    "$GRIDTIDE" explain --no-predict --format json run.db 2> /dev/null |
        jq -e '.summary.note == null and (.advised | length > 0 and all(.gain_pct == null))'
    printf 'x' >> mine.json.gz
    for note in 'a different file' 'missing'; do
        "$GRIDTIDE" explain --format json run.db 2> /dev/null > explain.json
        jq -e --arg note "$note" '(.summary.note | test("mine.json.gz is " + $note)) and (.advised | length > 0
            and all(.gain_pct == null))' explain.json
        "$GRIDTIDE" explain run.db | grep -q "no predicted gains: mine.json.gz is $note"
        rm -f mine.json.gz
    done
}

@test "of a run with a change there are no gains: it is no recording" {
    run_of "$GRIDTIDE_SOURCE/traces/pairs/feeds-images.pageable.json.gz" --set chip.sms=66
    "$GRIDTIDE" explain --format json run.db 2> /dev/null |
        jq -e '(.summary.note | test("has a change")) and (.advised | all(.gain_pct == null))'
}

@test "gains are of the run as it was asked for, or there are none" {
    trace=$GRIDTIDE_SOURCE/traces/pairs/feeds-images.pageable.json.gz
    run_of "$trace" --seed 7 --blocks off
    "$GRIDTIDE" explain --format json run.db 2> /dev/null > explain.json
    ask=$(jq -r '.advised[] | select(.finding == "copies") | .ask' explain.json)
    [[ "$ask" == *" --blocks=off --seed=7 --change "* ]]
    eval "'$GRIDTIDE' ${ask#gridtide } -q --format json" > whatif.json
    jq -n -e --slurpfile e explain.json --slurpfile w whatif.json '$e[0].advised[] | select(.finding == "copies") |
        .predicted_us == $w[0].changes[0].step_us and .baseline_us == $w[0].step_us'
    run_of "$trace" --gaps calibrated
    "$GRIDTIDE" explain --format json run.db 2> /dev/null |
        jq -e '(.summary.note | test("used gaps=calibrated")) and (.advised | all(.gain_pct == null))'
}

@test "a step alone is broken down, and a part of the time" {
    loader
    "$GRIDTIDE" explain --step 3 --format json run.db 2> /dev/null |
        jq -e '.breakdown_steps | length == 1 and .[0].step == "ProfilerStep#3" and .[0].time_us == 10000'
    "$GRIDTIDE" stats --from 6000 --to 7000 --format json run.db 2> /dev/null |
        jq -e '[.breakdown_steps[].time_us] | add == 1000'
}

@test "memory that a loop allocates, and waits of the host, are found" {
    loader
    "$GRIDTIDE" explain --format json run.db 2> /dev/null > explain.json
    jq -e '.findings[] | select(.finding == "allocation") | .about_us == 1200 and (.what | test("3 calls .*cudaMalloc"))' explain.json
    jq -e '.findings[] | select(.finding == "synchronisation") | .what | test("after 6 host waits .*cudaStreamSynchronize in aten::")' explain.json
    jq -e '.gaps[0] | .cause == "data-loading" and (.held_by | test("DataLoader"))' explain.json
}

@test "a trace is simulated first, and leaves nothing behind" {
    trace=$GRIDTIDE_SOURCE/traces/pairs/feeds-images.pageable.json.gz
    run_of "$trace"
    "$GRIDTIDE" explain --format json run.db > stored.json 2> /dev/null
    mkdir tmp
    TMPDIR=$PWD/tmp "$GRIDTIDE" explain --format json "$trace" > direct.json 2> /dev/null
    cmp stored.json direct.json
    [ -z "$(ls tmp)" ]
    echo 'no trace' > other.txt
    TMPDIR=$PWD/tmp run "$GRIDTIDE" explain other.txt
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: other.txt: the format is unknown"* ]]
    [ -z "$(ls tmp)" ]
}

# ended_by SIGNAL KILLED: a trace that takes long is being simulated for explain when KILLED, "child" or "parent", is ended
ended_by() {
    TMPDIR=$PWD/tmp "$GRIDTIDE" explain long.jsonl > output 2>&1 &
    parent=$!
    until child=$(pgrep -P "$parent"); do
        kill -0 "$parent"
    done
    kill "-$1" "${!2}"
    status=0
    wait "$parent" || status=$?
    kill "$child" 2> /dev/null || true
    [ -z "$(ls tmp)" ]
}

@test "a simulation that is ended says so, and leaves nothing behind" {
    mkdir tmp
    {
        echo '{"gridtide":1,"device":"h200"}'
        echo '{"kernel":"k","grid":8,"block":128,"duration_us":9}'
        yes '{"call":"launch","kernel":"k"}' | head -n 1000000
    } > long.jsonl
    ended_by KILL child
    [ "$status" -eq 1 ]
    grep -q '^gridtide: the simulation of long.jsonl was killed by signal 9 (Killed)$' output
    ended_by TERM parent
    [ "$status" -eq 143 ]
}
