# gridtide validate where there is no GPU, and what is said of wrong usage.

setup() {
    cd "$BATS_TEST_TMPDIR"
    cat > t.jsonl <<'END'
{"gridtide":1,"name":"t","device":"toy"}
{"kernel":"k","grid":8,"block":64,"block_us":10}
{"call":"launch","kernel":"k","stream":"a"}
END
}

@test "validate: without a GPU it says so, with status 1, and makes no store" {
    export CUDA_VISIBLE_DEVICES=
    run "$GRIDTIDE" validate t.jsonl -o v.db
    [ "$status" = 1 ]
    [[ "$output" == "gridtide: no CUDA GPU: "* || "$output" == *"built without CUDA"* ]]
    [ "${#lines[@]}" = 1 ]
    [ ! -e v.db ]
}

@test "validate: wrong usage is told, with status 2" {
    for wrong in "" "t.jsonl --repeat 0" "t.jsonl --repeat five" "t.jsonl --repeat 1001" "t.jsonl --blocks maybe" \
                 "t.jsonl --seed -1" "t.jsonl -f xml" "t.jsonl --nonsense"; do
        run "$GRIDTIDE" validate $wrong
        echo "$wrong: $output"
        [ "$status" = 2 ]
    done
}

# p.jsonl, a kernel in another GPU's memory, and peers.db with a measured run of it.
peers() {
    cat > p.jsonl <<'END'
{"gridtide":1,"name":"p","device":"toy"}
{"gpu":0}
{"gpu":1}
{"gpu":2}
{"kernel":"k","grid":1,"block":32,"runs":"peer"}
{"call":"launch","kernel":"k","peer_gpu":1,"from_peer":true,"bytes":1000}
END
    "$GRIDTIDE" run -q p.jsonl -o peers.db > /dev/null
    sqlite3 peers.db "UPDATE run SET kind = 'measured'"
}

# A store with two measured runs of t.jsonl, as long as it is simulated.
measured() {
    "$GRIDTIDE" run -q t.jsonl -o measured.db
    sqlite3 measured.db "UPDATE run SET kind = 'measured';
        INSERT INTO run SELECT run_id + 1, trace_id, device_id, kind, options, 1, 1 FROM run;
        INSERT INTO run_op SELECT 2, op_no, NULL, start_ps, end_ps, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
            FROM run_op;"
}

@test "validate: what a store has measured takes the place of a GPU" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    run "$GRIDTIDE" validate t.jsonl --measured measured.db --repeat 2 -o v.db -f csv
    [ "$status" = 0 ]
    [[ "${lines[1]}" == t,2,* ]]
    [ "$(cut -d, -f5 <<< "${lines[1]}")" = 0 ]
    [ "$(sqlite3 v.db "SELECT count(*) FROM run WHERE kind = 'measured' AND whole = 1")" = 2 ]
}

@test "validate: one table can be had alone, in any format" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    run "$GRIDTIDE" validate t.jsonl --measured measured.db --repeat 2 -q -o v.db -f csv --table summary
    [ "$status" = 0 ]
    [ "${#lines[@]}" = 2 ]
    [[ "${lines[0]}" == traces,makespan_error_median_pct,* ]]
    [[ "${lines[1]}" == 1,0,* ]] # a trace without an error
    # For people no line a trace and no sentence: the table, of one row, as names and values.
    run "$GRIDTIDE" validate t.jsonl --measured measured.db --repeat 2 -q -o v.db --table summary
    [ "$status" = 0 ]
    [[ "${lines[0]}" =~ ^traces\ +1$ ]]
    [ "$(grep -c verdict <<< "$output")" = 1 ]
    run "$GRIDTIDE" validate t.jsonl --measured measured.db --repeat 2 -q -o v.db -f json --table traces
    [[ "$output" == '{'*'"traces":'*'"verdict": "ok"'* && "$output" != *summary* ]]
}

@test "validate: a table that there is not is told before anything is simulated" {
    for table in nonsense shrunk rules; do
        run "$GRIDTIDE" validate t.jsonl --measured none.db -o v.db --table $table
        [ "$status" = 2 ]
        [[ "${lines[0]}" == "gridtide validate: "*"$table"* ]]
    done
    [ ! -e v.db ]
}

@test "validate: what the host's calls cost comes from the process that measured, where it measured that" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    sqlite3 measured.db "UPDATE device_key SET value = '9' WHERE key = 'host.launch_call_us'"
    "$GRIDTIDE" validate -q t.jsonl --measured measured.db --repeat 2 -o v.db
    [ "$(sqlite3 v.db "SELECT value FROM device_key WHERE key = 'host.launch_call_us'")" = 1 ]
    sqlite3 measured.db "INSERT INTO counter SELECT run_id, 'host_calls', 100 FROM run"
    "$GRIDTIDE" validate -q t.jsonl --measured measured.db --repeat 2 -o w.db
    [ "$(sqlite3 w.db "SELECT value FROM device_key WHERE key = 'host.launch_call_us'")" = 9 ]
    [ "$(sqlite3 w.db "SELECT count(*) FROM counter WHERE name = 'host_calls' AND value = 100")" = 2 ]
}

@test "validate: it ends when nobody reads what it says" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    sed 's/"name":"t"/"name":"u"/' t.jsonl > u.jsonl
    timeout 20 "$GRIDTIDE" validate $(yes u.jsonl | head -n 300) --measured measured.db -o w.db 2>&1 | head -n 1 > said
    [ "${PIPESTATUS[0]}" != 124 ]
    [ -s said ]
}

@test "validate: a store that lacks the trace, has another one or too few runs is told" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    run "$GRIDTIDE" validate t.jsonl --measured measured.db --repeat 3 -o v.db -q
    [ "$status" = 1 ]
    [[ "$output" == *"has 2 measured runs"* ]]
    [ "$(sqlite3 v.db "SELECT count(*) FROM run WHERE kind = 'measured' AND whole = 1")" = 2 ]
    sed 's/"name":"t"/"name":"u"/' t.jsonl > u.jsonl
    run "$GRIDTIDE" validate u.jsonl --measured measured.db -o w.db -q
    [ "$status" = 1 ]
    [[ "$output" == *"no measured run of 'u'"* ]]
    [ ! -e w.db ]
    for change in '$a{"call":"launch","kernel":"k","stream":"a"}' '$a{"call":"device_sync"}' \
                  's/"grid":8/"grid":9/'; do
        sed "$change" t.jsonl > changed.jsonl
        run "$GRIDTIDE" validate changed.jsonl --measured measured.db -o w.db -q
        [ "$status" = 1 ]
        [[ "$output" == *"another trace of the name 't'"* ]]
    done
    peers
    for change in 's/"bytes":1000/"bytes":2000/' 's/"peer_gpu":1/"peer_gpu":2/' 's/,"from_peer":true//'; do
        sed "$change" p.jsonl > changed.jsonl
        run "$GRIDTIDE" validate changed.jsonl --measured peers.db -o w.db -q
        [ "$status" = 1 ]
        [[ "$output" == *"another trace of the name 'p'"* ]]
    done
    "$GRIDTIDE" validate p.jsonl --measured peers.db --repeat 1 -o w.db -q
    rm w.db
    # A store of before does not tell.
    sqlite3 peers.db 'DROP TABLE op_peer; PRAGMA user_version = 10'
    "$GRIDTIDE" validate changed.jsonl --measured peers.db --repeat 1 -o w.db -q
    [ "$(sqlite3 w.db 'PRAGMA user_version')" -gt 10 ]
    [ "$(sqlite3 w.db 'SELECT DISTINCT bytes, gpu_no, from_peer FROM op_peer')" = '1000|1|0' ]
    rm w.db
    for damage in 'op_no = 77' 'start_ps = -1' 'end_ps = start_ps - 1' \
                  "end_ps = 'late'"; do
        cp measured.db damaged.db
        sqlite3 damaged.db "UPDATE run_op SET $damage"
        run "$GRIDTIDE" validate t.jsonl --measured damaged.db --repeat 1 -o w.db -q
        [ "$status" = 1 ]
        [[ "$output" == *"measured run 1 of the store is damaged"* ]]
    done
    for damage in "replace(hex(zeroblob(600)), '0', '1,')" "'[5000000000]'" "'[4000000000,4000000000]'"; do
        cp measured.db damaged.db
        sqlite3 damaged.db "INSERT OR REPLACE INTO run_placement SELECT run_id, 0, 0, $damage FROM run"
        run "$GRIDTIDE" validate t.jsonl --measured damaged.db --repeat 1 -o w.db -q
        echo "$damage: $output"
        [ "$status" = 1 ]
        [[ "$output" == *"the placement of operation 0 in the store is damaged"* ]]
    done
    sqlite3 damaged.db "DROP TABLE run_op"
    run "$GRIDTIDE" validate t.jsonl --measured damaged.db --repeat 1 -o w.db -q
    [ "$status" = 1 ]
    [[ "$output" == *"damaged.db: no such table: run_op; make it again"* ]]
    run "$GRIDTIDE" validate t.jsonl --measured t.jsonl -o x.db -q
    [ "$status" = 1 ]
    [ ! -e x.db ]
}

@test "validate: a trace of which nothing was measured leaves nothing in the store" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    measured
    sed 's/"name":"t"/"name":"u"/' t.jsonl > u.jsonl
    run "$GRIDTIDE" validate u.jsonl t.jsonl u.jsonl --measured measured.db --repeat 2 -o v.db -q
    [ "$status" = 1 ]
    [ "$(sqlite3 v.db "SELECT group_concat(name) FROM trace")" = t ]
    [ "$(sqlite3 v.db "SELECT group_concat(kind) FROM run")" = simulated,measured,measured,simulated ]
    # What the store had before stays, whatever it is.
    sqlite3 v.db "DELETE FROM run_op WHERE run_id > 1" "DELETE FROM run_placement WHERE run_id > 1" \
        "DELETE FROM counter WHERE run_id > 1" "DELETE FROM comparison" "DELETE FROM run WHERE run_id > 1"
    sqlite3 v.db .dump | grep -v '"\?device' > before.sql
    run "$GRIDTIDE" validate u.jsonl --measured measured.db -o v.db -q
    [ "$status" = 1 ]
    sqlite3 v.db .dump | grep -v '"\?device' > after.sql
    diff before.sql after.sql
}
