# gridtide stats: where a run's time went. The golden store's numbers are worked out in tests/unit/stats.c.

golden() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to build the store with"
    cat "$GRIDTIDE_SOURCE/traces/store/schema.sql" "$GRIDTIDE_SOURCE/tests/data/stats-golden.sql" |
        sqlite3 "$BATS_TEST_TMPDIR/run.db"
}

sql() {
    sqlite3 "$BATS_TEST_TMPDIR/run.db" "$1"
}

stats() {
    run "$GRIDTIDE" stats "$BATS_TEST_TMPDIR/run.db" "$@"
}

@test "stats: a table for people, each section with its heading" {
    golden
    stats
    [ "$status" -eq 0 ]
    for section in summary breakdown host_while_idle streams kernels copies sms occupancy critical_path critical_path_segments; do
        grep -qx "$section" <<< "$output"
    done
    grep -Eq '^makespan +41\.0 us$' <<< "$output"
    grep -Eq '^copy +h2d +pinned +2 +30000 +10\.0 us +3\.000' <<< "$output"
}

@test "stats: a name is cut for a terminal, and stands whole in a file" {
    golden
    sql "UPDATE kernel SET name = 'void at::native::$(printf 'x%.0s' {1..300})<float>(int)' WHERE kernel_no = 1"
    stats
    [ "$status" -eq 0 ]
    grep -q "$(printf 'x%.0s' {1..300})<float>" <<< "$output"
    command -v script > /dev/null || skip "script is not installed"
    COLUMNS=120 script -qec "'$GRIDTIDE' stats '$BATS_TEST_TMPDIR/run.db'" /dev/null < /dev/null | tr -d '\r' > "$BATS_TEST_TMPDIR/printed"
    grep -q 'xx…xx' "$BATS_TEST_TMPDIR/printed"
    [ "$(wc -L < "$BATS_TEST_TMPDIR/printed")" -le 120 ]
}

@test "stats: JSON has an object and arrays by section, units in the names" {
    golden
    command -v jq > /dev/null || skip "no jq"
    stats --format json
    [ "$status" -eq 0 ]
    [ "$(jq -c keys_unsorted <<< "$output")" = \
        '["summary","breakdown","breakdown_ranks","breakdown_steps","host_while_idle","streams","kernels","steps","operators","launch_tree","copies","sms","occupancy","critical_path","critical_path_segments","notes"]' ]
    jq -e '.summary | .makespan_us == 41 and .kernel_copy_overlap_us == 2' <<< "$output"
    jq -e '.summary.makespan_us as $all | .streams | length == 3 and all(
        .busy_us + .idle_before_us + .idle_after_us + .idle_host_us + .idle_stream_us + .idle_event_us +
        .idle_queue_us + .idle_engine_us + .idle_resource_us + .idle_unknown_us == $all)' <<< "$output"
    jq -e '([.critical_path_segments[].time_us] | add) == .summary.critical_path_us
        and ([.critical_path[].time_us] | add) == .summary.critical_path_us' <<< "$output"
    jq -e '.kernels[0] | .name == "A" and .blocks == 8 and .limiter == "blocks" and .occupancy_pct == 50' <<< "$output"
}

@test "stats: a plain field goes from a profile through trace and store into the table" {
    command -v jq > /dev/null || skip "no jq"
    cd "$BATS_TEST_TMPDIR"
    "$GRIDTIDE" import -q "$GRIDTIDE_SOURCE/tests/fuzz/samples/kineto.json" -o plain.jsonl
    grep -q '"recorded_occupancy_pct":25' plain.jsonl
    "$GRIDTIDE" run -q plain.jsonl -o plain.db
    run --separate-stderr "$GRIDTIDE" stats plain.db --format json
    [ "$(jq -c '[.kernels[].recorded_occupancy_pct] | unique' <<< "$output")" = '[null,25]' ]
    sqlite3 plain.db 'DROP TABLE plain_value; PRAGMA user_version = 12'
    run --separate-stderr "$GRIDTIDE" stats plain.db --format json
    [ "$(jq -c '[.kernels[].recorded_occupancy_pct] | unique' <<< "$output")" = '[null]' ]
}

@test "stats: CSV rows begin with their section" {
    golden
    stats --format csv
    [ "$status" -eq 0 ]
    [[ "$output" == *"streams,0,13,second,3,18,"* ]]
    [[ "$output" == *"critical_path,kernel,A,A,2,22,"* ]]
}

@test "stats: the same store gives the same bytes" {
    golden
    for format in table csv json; do
        "$GRIDTIDE" stats "$BATS_TEST_TMPDIR/run.db" --format "$format" > "$BATS_TEST_TMPDIR/first"
        "$GRIDTIDE" stats "$BATS_TEST_TMPDIR/run.db" --format "$format" | cmp - "$BATS_TEST_TMPDIR/first"
    done
}

@test "stats: a measured run says what it cannot tell" {
    golden
    stats --run measured
    [ "$status" -eq 0 ]
    [[ "$output" == *"critical_path unknown"* ]]
    [[ "$output" == *"the causes of idle time are unknown"* ]]
    stats --run measured --format json
    [[ "$output" == *'"idle_host_us": null'* ]]
}

@test "stats: many SMs are summed up for people and listed for programs" {
    golden
    sql "UPDATE device SET sms = 20"
    stats
    [ "$(grep -c '^gpu 0 sm ' <<< "$output")" -eq 5 ]
    [[ "$output" != *"gpu 0 sm 0 "* ]]
    stats --format csv
    [ "$(grep -c '^sms,0,' <<< "$output")" -eq 20 ]
}

@test "stats: no simulated run, no run at all" {
    golden
    sql "DELETE FROM run WHERE kind = 'simulated'"
    stats
    [ "$status" -eq 1 ]
    [[ "$output" == *"run.db: contains no simulated run, only a measured one"* ]]
    sql "DELETE FROM run"
    stats
    [ "$status" -eq 1 ]
    [[ "$output" == *"run.db: contains no run"* ]]
}

@test "stats: what is no store, or a damaged one, is refused by name" {
    golden
    run "$GRIDTIDE" stats "$BATS_TEST_TMPDIR/none.db"
    [ "$status" -eq 1 ]
    [[ "$output" == *"none.db"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/none.db" ]
    run "$GRIDTIDE" stats "$GRIDTIDE_SOURCE/traces/store/schema.sql"
    [ "$status" -eq 1 ]
    [[ "$output" == *"schema.sql"* ]]
    run "$GRIDTIDE" stats "$BATS_TEST_TMPDIR"
    [ "$status" -eq 1 ]
    head -c 9000 "$BATS_TEST_TMPDIR/run.db" > "$BATS_TEST_TMPDIR/cut.db"
    run "$GRIDTIDE" stats "$BATS_TEST_TMPDIR/cut.db"
    [ "$status" -eq 1 ]
    [[ "$output" == *"cut.db"* ]]
    sql "UPDATE run_op SET end_ps = 0 WHERE run_id = 1 AND op_no = 5"
    stats
    [ "$status" -eq 1 ]
    [[ "$output" == *"operation 5 ends before it starts; the store is damaged"* ]]
}

@test "stats: wrong usage" {
    run "$GRIDTIDE" stats
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" stats a.db b.db
    [ "$status" -eq 2 ]
    run "$GRIDTIDE" stats a.db --format yaml
    [ "$status" -eq 2 ]
    [[ "$output" == *"table, csv, json"* ]]
    run "$GRIDTIDE" stats a.db --run imagined
    [ "$status" -eq 2 ]
    [[ "$output" == *"simulated, measured"* ]]
}
