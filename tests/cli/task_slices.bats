# What a megakernel's profiler recorded of its workers: costs of tasks, and workers side by side with the simulated ones.
#
# tests/data/task_slices.py: on block 0 TILE from 0 to 10 us and NORM from 12 to 16, on block 1 TILE from 0 to 12; so a TILE takes
# 11 us in the mean, a NORM 4; of 2 x 16 us the workers are busy for 26, and 6 us (18.75%) are bubbles.

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

@test "tasks take the mean of the recorded ones; what was recorded is told" {
    for kind in mirage flashinfer; do
        recording $kind rec.pftrace
        run "$GRIDTIDE" run mega.jsonl --task-costs rec.pftrace -o $kind.db
        [ "$status" -eq 0 ]
        [[ "$output" == *"3 tasks take their time from rec.pftrace"* ]]
        [[ "$output" == *"means of 3 recorded tasks"*"2 workers, 16.000 us, 18.8% of it bubbles"* ]]
        [[ "$output" == *"no task has the kind SCHD"* ]]
        [[ "$output" == *"1 recorded tasks have no end"* ]]
        [ "$(sqlite3 $kind.db "SELECT group_concat(name || ' ' || duration_us, ', ') FROM
            (SELECT * FROM task_time ORDER BY task_no)")" = "a 11.0, b 11.0, c 4.0" ]
    done
}

@test "workers stand side by side: simulated and recorded bubbles" {
    recording mirage rec.pftrace
    "$GRIDTIDE" run -q mega.jsonl --task-costs rec.pftrace -o run.db
    "$GRIDTIDE" stats run.db --recorded-tasks rec.pftrace -f csv | tr -d '\r' | grep '^workers' > rows
    [ "$(cut -d, -f2,3,4,6,7,8 rows)" = "0,2,15,2,14,12.5
1,1,11,1,12,25
all,3,26,3,26,18.75" ]
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
