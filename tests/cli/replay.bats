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
