# shellcheck shell=bash
# What the tests of `gridtide report` share.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
}

# A recorded sample and its simulation; a hand-written one, without blocks unless asked for (quicker to draw).
recorded() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-4.json.gz" -o run.db --blocks "${1-off}"
}

written() {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/overlap-4-streams.jsonl" -o run.db --blocks off
}

need_sqlite() {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
}

# A page's scripts are the two that it brings: the timeline's data and what shows them.
only_own_scripts() {
    for page in "$@"; do
        [ "$(grep -o '<script[^>]*>' "$page" | tr -d '\n')" = '<script type="application/json" id="live-data"><script>' ]
        [ "$(grep -c '</script' "$page")" -eq 2 ]
    done
}

# The data of the timeline that can be zoomed.
live_data() {
    sed -n '/id="live-data">/,/^<\/script>/p' "$1" | sed '1d;$d'
}

# A store of the first traces of a recorded suite.
suite() {
    need_sqlite
    cp "$GRIDTIDE_SOURCE/validate/recordings/h200.db" run.db
    chmod u+w run.db
    sqlite3 run.db "PRAGMA foreign_keys = OFF; DELETE FROM run WHERE trace_id > ${1-6};"
}

# A what-if: the run that is there, and a change of it that takes twice as long.
changed() {
    need_sqlite
    sqlite3 run.db "PRAGMA foreign_keys = OFF; CREATE TEMP TABLE last AS SELECT max(run_id) AS id FROM run;
        INSERT INTO run SELECT id + 1, trace_id, device_id, kind, options || ' set=chip.sms=66', 0, 1 FROM run, last
            WHERE run_id = id;
        INSERT INTO run_op SELECT id + 1, op_no, submit_ps, 2 * start_ps, 2 * end_ps, wait_host_ps, wait_stream_ps,
            wait_event_ps, wait_queue_ps, wait_engine_ps, wait_resource_ps, cause_call, cause_op FROM run_op, last
            WHERE run_id = id;"
}
