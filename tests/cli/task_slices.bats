# What a megakernel's profiler recorded of its workers: costs of tasks, and workers side by side with the simulated ones.
#
# tests/data/task_slices.py: on block 0 TILE from 0 to 10 us and NORM from 12 to 16, on block 1 TILE from 0 to 12; so of two tasks of
# the kind TILE one takes 10 us and one 12, a NORM takes 4; of 2 x 16 us the workers are busy for 26, and 6 us (18.75%) are bubbles.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    command -v python3 > /dev/null || skip "no python3 to write the recording with"
    cat > mega.jsonl <<- 'END'
	{"gridtide":1,"name":"mega","device":"h200"}
	{"task_graph":"g","kinds":[{"kind":"TILE"},{"kind":"NORM"}],"tasks":[{"task":"a","kind":"TILE","worker":0},{"task":"b","kind":"TILE","worker":1},{"task":"c","kind":"NORM","worker":0,"after":["a","b"]}]}
	{"kernel":"mega","grid":2,"block":64,"tasks":"g"}
	{"call":"launch","kernel":"mega"}
	{"call":"device_sync"}
	END
}

recording() {
    python3 "$GRIDTIDE_SOURCE/tests/data/task_slices.py" "$@"
}

@test "tasks take the times of the recorded ones; what was recorded is told" {
    for kind in mirage flashinfer proton; do
        recording $kind rec.pftrace
        run "$GRIDTIDE" run mega.jsonl --task-costs rec.pftrace -o $kind.db
        [ "$status" -eq 0 ]
        [[ "$output" == *"3 tasks take their time from rec.pftrace"* ]]
        [[ "$output" == *"times are those of 3 recorded tasks, each its own, "*"2 workers, 16.000 us, 18.8% of it bubbles"* ]]
        [[ "$output" == *"no task has the kind SCHD"* ]]
        [ $kind = proton ] || [[ "$output" == *"1 recorded tasks have no end"* ]]
        [ $kind != proton ] || [[ "$output" == *"the recording is in cycles: they are taken to be of the device's 1980 MHz"* ]]
        [ "$(sqlite3 $kind.db "SELECT group_concat(name || ' ' || duration_us, ', ') FROM
            (SELECT * FROM task_time ORDER BY task_no)")" = "a 10.0, b 12.0, c 4.0" ]
    done
}

# Two tasks more than the recorded ones: the first tasks of workers, a, b and d, take 10, 12 and one of these again, c and e take 4.
@test "tasks of other lists take times of their kinds; without waits, the recorded time between tasks" {
    recording proton rec.json
    sed '2s/]}$/,{"task":"d","kind":"TILE","worker":2},{"task":"e","kind":"NORM","worker":2}]}/; 2s/,"after":[^]]*]//; s/"grid":2/"grid":3/' mega.jsonl > other.jsonl
    run "$GRIDTIDE" run other.jsonl --task-costs rec.json -o run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"5 tasks take their time from rec.json"* ]]
    [[ "$output" == *"times are those of 3 recorded tasks, drawn by kind, "* ]]
    [[ "$output" == *"between two tasks of a worker pass 2.000 us, as recorded"* ]]
    [ "$(sqlite3 run.db "SELECT group_concat(DISTINCT kind || ' ' || duration_us) FROM
        (SELECT * FROM task_time ORDER BY kind, duration_us)")" = "NORM 4.0,TILE 10.0,TILE 12.0" ]
    [ "$(sqlite3 run.db "SELECT round(c.start_us - a.end_us, 6) FROM task_time a JOIN task_time c WHERE a.name = 'a' AND c.name = 'c'")" = 2.0 ]
    "$GRIDTIDE" run -q mega.jsonl --task-costs rec.json -o waits.db # c waits for others: what passes before it is more than the worker's own
    [ "$(sqlite3 waits.db "SELECT c.start_us - b.end_us < 2 FROM task_time b JOIN task_time c WHERE b.name = 'b' AND c.name = 'c'")" = 1 ]
}

@test "a change says that tasks keep their recorded times" {
    recording proton rec.json
    run "$GRIDTIDE" run mega.jsonl --task-costs rec.json --set tasks.signal_us=1 -o run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"tasks: their times are those of rec.json,"* ]]
}

@test "workers stand side by side: simulated and recorded bubbles" {
    for kind in mirage proton; do
        recording $kind rec.pftrace
        rm -f run.db
        "$GRIDTIDE" run -q mega.jsonl --task-costs rec.pftrace -o run.db
        "$GRIDTIDE" stats run.db --recorded-tasks rec.pftrace -f csv | tr -d '\r' | grep '^workers' > rows
        [ "$(cut -d, -f2,3,4,6,7,8 rows)" = "0,2,14,2,14,12.5
1,1,12,1,12,25
all,3,26,3,26,18.75" ]
    done
    run "$GRIDTIDE" stats run.db --recorded-tasks rec.pftrace
    [ "$status" -eq 0 ]
    [[ "$output" == *"recorded_bubbles_pct"* ]]
}

@test "a timer that begins anew during the recording makes no difference" {
    recording mirage rec.pftrace 4294960000 # 7.3 us before
    "$GRIDTIDE" run -q mega.jsonl --task-costs rec.pftrace -o run.db
    "$GRIDTIDE" stats run.db --recorded-tasks rec.pftrace -f csv | tr -d '\r' | grep -q '^workers,all,3,26,.*,3,26,18.75$'
}

@test "what is broken or fits no task is one line" {
    recording mirage rec.pftrace
    for bytes in 1 3 50 200 400; do
        head -c $bytes rec.pftrace > cut.pftrace
        run "$GRIDTIDE" run mega.jsonl --task-costs cut.pftrace -o no.db
        echo "$bytes: $output"
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" == "gridtide: --task-costs: cut.pftrace:"* ]]
        [ ! -e no.db ]
    done
    sed 's/TILE/A/g; s/NORM/B/g' mega.jsonl > other.jsonl
    run "$GRIDTIDE" run -q other.jsonl --task-costs rec.pftrace -o no.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"it has none of their kinds"* ]]
    echo '{"time_us":{"TILE":1,"NORM":1,"A":1,"B":1}}' > costs.json
    "$GRIDTIDE" run -q other.jsonl --task-costs costs.json -o other.db
    run "$GRIDTIDE" stats other.db --recorded-tasks rec.pftrace
    [ "$status" -eq 1 ]
    [ "$output" = "gridtide: rec.pftrace: no recorded task has a kind of the run's tasks" ]
    printf '{"gridtide":1,"device":"h200"}\n{"kernel":"k","grid":1,"block":32,"block_us":5}\n{"call":"launch","kernel":"k"}\n' > plain.jsonl
    "$GRIDTIDE" run -q plain.jsonl -o plain.db
    run "$GRIDTIDE" stats plain.db --recorded-tasks rec.pftrace
    [ "$status" -eq 1 ]
    [[ "$output" == *"the run has no kernel with tasks"* ]]
}

# scope BLOCK WARP NAME TS DUR [KERNEL]: an event of proton
scope() {
    printf '{"ph":"X","name":"%s","pid":"%s Core1 CTA%s","tid":"warp %s (line 0)","ts":%s,"dur":%s}' "$3" "${6:-mega}" "$1" "$2" "$4" "$5"
}

# refused EVENTS TEXT...: a Chrome trace of these events is refused in one line that has these texts
refused() {
    printf '{"traceEvents":[%s]}' "$1" > rec.json
    run "$GRIDTIDE" run -q mega.jsonl --task-costs rec.json -o no.db
    echo "$output"
    [ "$status" -eq 1 ]
    [ "${#lines[@]}" -eq 1 ]
    [[ "$output" == "gridtide: --task-costs: rec.json: "* ]]
    [ ! -e no.db ]
    shift
    for text; do [[ "$output" == *"$text"* ]]; done
}

@test "Chrome traces that are no launch of one kernel with scopes of blocks are refused" {
    one=$(scope 0 0 TILE 1 2)
    refused '{"ph":"X","name":"TILE","cat":"kernel","tid":0,"ts":1,"dur":2}' "a Chrome trace without scopes of blocks" "1 other events"
    refused "" "a Chrome trace without scopes of blocks"
    refused "$one,$(scope 1 0 TILE 1 2 other)" "byte 1" "the trace has scopes of two kernels, mega and other"
    refused "$one,$(scope 1 0 TILE 1 2),$(scope 0 0 TILE 5 2)" "the trace has several launches of mega: block 0 comes again"
    refused "$one,$(scope 0 0 TILE 4 1),$(scope 0 1 TILE 1 2)" 'warps of block 0 have different numbers of scopes "TILE", 2 and 1 (warp 1)'
    refused "$(scope 0 0 TILE 1 -2)" '"dur" of a scope, -2, is negative'
    refused "$(scope 0 0 TILE -1 2)" '"ts" of a scope, -1, is negative'
    refused "$(scope 0 0 TILE 1e18 2)" '"ts" of a scope, 1e18, is too large'
    refused "$(scope 0 0 TILE '"1"' 2)" 'a scope has no number "ts"'
    refused "$(scope 99999999999999999999 0 TILE 1 2)" '"pid" mega Core1 CTA99999999999999999999: the number of a block is below 1048576'
    refused '{"ph":"X","name":"TILE","pid":"mega Core1 CTA0","tid":7,"ts":1,"dur":2}' "a scope's \"tid\""
    refused "$one,$(printf '[%.0s' {1..70})" "containers are nested deeper than 64"
    for kind in old modern; do
        run "$GRIDTIDE" run -q mega.jsonl --task-costs "$GRIDTIDE_SOURCE/tests/data/kineto-$kind.json" -o no.db
        [ "$status" -eq 1 ]
        [[ "$output" == *"a Chrome trace without scopes of blocks"* ]]
    done
}

@test "a Chrome trace that ends early or is no JSON is refused where it breaks; compressed ones are read" {
    recording proton rec.json
    size=$(wc -c < rec.json)
    for bytes in 40 500 $((size - 1)); do
        head -c "$bytes" rec.json > cut.json
        run "$GRIDTIDE" run -q mega.jsonl --task-costs cut.json -o no.db
        [ "$status" -eq 1 ]
        [ "$output" = "gridtide: --task-costs: cut.json: byte $bytes: the JSON text ends too early; is the file complete?" ]
    done
    sed 's/"ph":"X"/"ph":X/' rec.json > broken.json
    run "$GRIDTIDE" run -q mega.jsonl --task-costs broken.json -o no.db
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: --task-costs: broken.json: byte 1"*": not JSON: "* ]]
    gzip -k rec.json
    "$GRIDTIDE" run -q mega.jsonl --task-costs rec.json.gz -o run.db
}

# traces/recorded_tasks: 650 tasks of 100 blocks; "read" lies within "sum" and is no task of the graph. The recorded makespans of
# few and taken are 26.6 and 26.8 us, one recording is less than 1% from the other.
@test "one recording of a persistent Triton kernel predicts another one" {
    folder=$GRIDTIDE_SOURCE/traces/recorded_tasks
    for program in few taken; do
        python3 "$GRIDTIDE_SOURCE/tests/data/persistent_graphs.py" $program > $program.jsonl
        "$GRIDTIDE" run $program.jsonl --task-costs "$folder/${program}_default-1.chrome_trace.xz" -o $program.db > out 2> err
        "$GRIDTIDE" stats $program.db --table workers --recorded-tasks "$folder/${program}_default-2.chrome_trace.xz" -f csv |
            awk -F, '$1 == "all" { print ($4 - $7 < 1 && $7 - $4 < 1) ? "near" : "far" }' > bubbles
        [ "$(cat bubbles)" = near ]
    done
    grep -q "^gridtide: times are those of 900 recorded tasks, drawn by kind, .* 132 workers, 26.831 us, 31.3% of it bubbles$" err
    [ "$(sqlite3 few.db "SELECT abs((max(end_ps) - min(start_ps)) / 26.6e6 - 1) < 0.01 FROM run_task")" = 1 ]
    [ "$(sqlite3 taken.db "SELECT abs((max(end_ps) - min(start_ps)) / 26.8e6 - 1) < 0.02 FROM run_task")" = 1 ]
}
