# The stored measurements of an H200 against today's model: a change must not make the suite worse.

load figures_helpers

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    replay="$GRIDTIDE_SOURCE/validate/scripts/replay.sh"
    scenarios="$GRIDTIDE_SOURCE/traces/scenarios"
    cd "$BATS_TEST_TMPDIR"
}

# measured FACTOR: a database in which three runs of one scenario were measured, FACTOR times as long.
measured() {
    "$GRIDTIDE" run -q "$scenarios/events-diamond.jsonl" -o measured.db
    sqlite3 measured.db "UPDATE run SET kind = 'measured';
        UPDATE run_op SET start_ps = CAST(start_ps * $1 AS INTEGER), end_ps = CAST(end_ps * $1 AS INTEGER);
        INSERT INTO run SELECT run_id + 1, trace_id, device_id, kind, options, 1, 1 FROM run;
        INSERT INTO run SELECT run_id + 2, trace_id, device_id, kind, options, 2, 1 FROM run WHERE repetition = 0;
        INSERT INTO run_op SELECT r.run_id, op_no, NULL, start_ps, end_ps * (r.run_id + 2), NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL FROM run_op p JOIN run r ON r.run_id > p.run_id;"
}

@test "replay: the same model has no error, whatever a slow repetition says" {
    measured 1
    sqlite3 measured.db "UPDATE run_op SET end_ps = end_ps / 4 WHERE run_id = 2"
    run "$replay" measured.db "$scenarios"
    [ "$status" -eq 0 ]
    grep -q '^events/diamond 0.000 0.000$' <<< "$output"
    grep -q '^figure traces 1$' <<< "$output"
    grep -q '^figure makespan_error_worst_pct 0.000$' <<< "$output"
}

@test "replay: an error is signed and a share of the measured makespan" {
    measured 1.25
    sqlite3 measured.db "DELETE FROM run WHERE repetition > 0; DELETE FROM run_op WHERE run_id > 1"
    run "$replay" measured.db "$scenarios"
    [ "$status" -eq 0 ]
    grep -q '^events/diamond -20.000 ' <<< "$output"
    grep -q '^figure makespan_error_median_pct 20.000$' <<< "$output"
}

@test "replay: a measured trace that is not there is an error" {
    measured 1
    sqlite3 measured.db "UPDATE trace SET name = 'no/such'"
    run "$replay" measured.db "$scenarios"
    [ "$status" -eq 1 ]
    [[ "$output" == *"no trace 'no/such'"* ]]
}

@test "replay: the H200 suite is predicted as well as recorded in h200-figures.txt" {
    as_released
    database="$GRIDTIDE_SOURCE/validate/recordings/h200.db"
    [ -f "$database" ] || skip "no validate/recordings/h200.db"
    "$replay" "$database" "$scenarios" "$GRIDTIDE_SOURCE/traces/samples" > now
    sed -n 's/^figure //p' now > figures
    worse=$(awk '
        /^#/ || NF < 2 { next }
        FNR == NR { recorded[$1] = $2; next }
        $1 == "traces" && $2 < recorded[$1] { print $2 " traces, " recorded[$1] " recorded" }
        $1 != "traces" && $1 in recorded && $2 > recorded[$1] + 0.1 { print $1 ": " $2 ", recorded " recorded[$1] }
        END { for (name in recorded) count++; if (count == 0) print "no figures are recorded" }
    ' "$GRIDTIDE_SOURCE/validate/recordings/h200-figures.txt" figures)
    [ -z "$worse" ] || { echo "$worse"; cat now; false; }
}

# As tests/unit/contradictions.c: thread b's first synchronisation returned at 8 us although its kernel ran until 103.
@test "dependencies that contradict the recorded order are dropped, and run, whatif and sweep say so" {
    cd "$BATS_TEST_TMPDIR"
    cat > apart.jsonl <<'END'
{"gridtide":1,"device":"h200"}
{"kernel":"k","grid":1,"block":128}
{"call":"launch","kernel":"k","stream":"z","thread":"b","start_us":0,"duration_us":1,"op_start_us":3,"op_duration_us":100}
{"call":"stream_sync","stream":"z","thread":"b","start_us":4,"duration_us":4}
{"call":"stream_sync","stream":"x","thread":"b","start_us":10,"duration_us":1}
{"call":"launch","kernel":"k","stream":"y","thread":"b","start_us":20,"duration_us":1,"op_start_us":25,"op_duration_us":35}
{"call":"event_wait","stream":"x","target_unknown":true,"thread":"a","start_us":30,"duration_us":1}
{"call":"launch","kernel":"k","stream":"x","thread":"a","start_us":31,"duration_us":1,"op_start_us":62,"op_duration_us":10}
END
    "$GRIDTIDE" run apart.jsonl -o apart.db 2> warnings
    grep -q 'warning: dependencies-contradict: ' warnings
    [ "$(sqlite3 apart.db "SELECT count FROM warning WHERE kind = 'dependencies-contradict'")" -eq 1 ]
    for change in streams=1 launch-cost=9; do
        "$GRIDTIDE" whatif apart.jsonl --change "$change" -f json > answer.json
        jq -e '.changes[0].assumptions | map(select(test("^1 inferred dependenc"))) | length == 1' answer.json
    done
    "$GRIDTIDE" sweep -q apart.jsonl --over launch-cost=3,9 -j 1 -o sweep.db > table
}
