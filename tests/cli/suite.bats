# A store as the validator fills it: several traces, several measured runs of one; made by hand here.

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    cd "$BATS_TEST_TMPDIR"
    cat > t.jsonl <<'END'
{"gridtide":1,"name":"copy/one","device":"toy"}
{"kernel":"k","grid":4,"block":256,"duration_us":20}
{"call":"launch","kernel":"k","stream":"a","start_us":0,"duration_us":1,"op_start_us":5,"op_duration_us":20}
{"call":"launch","kernel":"k","stream":"a","start_us":2,"duration_us":1,"op_start_us":30,"op_duration_us":20}
END
    "$GRIDTIDE" run -q t.jsonl -o v.db
    # A simulator that knows nothing of the gap before the second kernel: it ends 5 us sooner, after 40.
    sqlite3 v.db "UPDATE run_op SET start_ps = start_ps - 5000000, end_ps = end_ps - 5000000 WHERE op_no = 1 AND
        run_id = (SELECT run_id FROM run WHERE kind = 'simulated')"
    again copy/two 100
    again mix/three 200
    # A second and a third measured run of the first trace: 45 us the first, then 46 and 48.
    measured=$(sqlite3 v.db "SELECT min(run_id) FROM run WHERE kind = 'measured'")
    for late in 1 3; do
        sqlite3 v.db "INSERT INTO run SELECT run_id + 1000 + $late, trace_id, device_id, kind, options, $late, 1 FROM run
                WHERE run_id = $measured;
            INSERT INTO run_op SELECT run_id + 1000 + $late, op_no, submit_ps, start_ps, end_ps + op_no * $late * 1000000,
                NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM run_op WHERE run_id = $measured;"
    done
    for run in $measured $((measured + 1)) $((measured + 1001)) $((measured + 1003)); do
        sqlite3 v.db "INSERT INTO run_placement VALUES ($run, 0, 0, '[$((run > 1000 ? 1 : 2)),2]')"
    done
}

# again NAME SHIFT: the first trace with its runs once more, under another name and other numbers.
again() {
    {
        echo "BEGIN;"
        for table in stream thread gpu kernel call op; do
            echo "CREATE TEMP TABLE x AS SELECT * FROM $table WHERE trace_id = 1;
                UPDATE x SET trace_id = trace_id + $2; INSERT INTO $table SELECT * FROM x; DROP TABLE x;"
        done
        echo "INSERT INTO trace SELECT trace_id + $2, '$1', source, NULL FROM trace WHERE trace_id = 1;
            INSERT INTO run SELECT run_id + $2, trace_id + $2, device_id, kind, options, repetition, 1 FROM run
                WHERE run_id < 100;"
        for table in run_call run_op; do
            echo "CREATE TEMP TABLE x AS SELECT * FROM $table WHERE run_id < 100;
                UPDATE x SET run_id = run_id + $2; INSERT INTO $table SELECT * FROM x; DROP TABLE x;"
        done
        echo "COMMIT;"
    } | sqlite3 v.db
}

at() {
    sqlite3 :memory: "select json_extract(readfile('out.json'), '$1')"
}

@test "compare: a store of several traces is an array, with spread, placement and verdict" {
    "$GRIDTIDE" compare v.db -f json > out.json
    [ "$(sqlite3 :memory: "select json_valid(readfile('out.json'))")" = 1 ]
    [ "$(at '$[#-1].trace')" = mix/three ]
    [ "$(at '$[0].trace')" = copy/one ]
    [ "$(at '$[0].repetitions')" = 3 ]
    [ "$(at '$[0].makespan_us.measured')" = 46 ]
    [ "$(sqlite3 :memory: "select round(json_extract(readfile('out.json'), '\$[0].makespan_spread_pct'), 4)")" = \
      "$(sqlite3 :memory: "select round(300.0 / 46, 4)")" ]
    [ "$(at '$[0].verdict')" = off ]
    [ "$(at '$[1].repetitions')" = 1 ]
    [ "$(at '$[1].makespan_spread_pct')" = "" ]
    [ "$(sqlite3 :memory: "select group_concat(key) from json_each(readfile('out.json'), '\$[0]')")" = \
      trace,device,operations,makespan_us,start_error_us,start_error_pct_of_makespan,unmatched,warnings,repetitions,makespan_error_gpu_pct,makespan_spread_pct,placement_pct,order,kernels,verdict ]
    [ "$(at '$[0].order.pairs')" = 1 ]
    [ "$(at '$[0].order.wrong')" = 0 ]
    [ "$(at '$[1].order.pairs')" = "" ]
}

@test "compare: a line or a row a trace, and a summary" {
    run "$GRIDTIDE" compare v.db
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 5 ]
    [[ "${lines[1]}" == "copy/one "* ]]
    [[ "${lines[4]}" == "3 traces: "* ]]
    run "$GRIDTIDE" compare v.db -f csv
    [ "${#lines[@]}" -eq 4 ]
}

@test "report: makespans of all traces, errors by family, blocks by SM" {
    command -v gnuplot > /dev/null || skip "no gnuplot"
    "$GRIDTIDE" report -q v.db -o out
    grep -q 'src="suite.svg"' out/index.html
    grep -q 'src="families.svg"' out/index.html
    grep -q 'under: ' out/suite.svg
    grep -q 'MAPE ' out/suite.svg
    grep -q '>copy<' out/families.svg
    grep -q '>mix<' out/families.svg
}

@test "stats and export take the store too" {
    "$GRIDTIDE" stats v.db -f json > out.json
    [ "$(sqlite3 :memory: "select json_valid(readfile('out.json'))")" = 1 ]
    "$GRIDTIDE" export perfetto v.db -o out.pftrace
    [ -s out.pftrace ]
}

@test "damaged placements are an error, not a number" {
    sqlite3 v.db "UPDATE run_placement SET sm_blocks = 'much'"
    run "$GRIDTIDE" compare v.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"damaged"* ]]
}
