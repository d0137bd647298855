# The scenarios: each runs, takes as long as its hand calculation says, and breaks no rule of the GPU.

setup_file() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    for trace in "$GRIDTIDE_SOURCE"/traces/scenarios/*.jsonl; do
        name=$(basename "$trace" .jsonl)
        "$GRIDTIDE" run -q --device "$GRIDTIDE_SOURCE/tests/data/h200-by-hand.ini" "$trace" -o "$BATS_FILE_TMPDIR/$name.db" || echo "$name" >> "$BATS_FILE_TMPDIR/failed"
        # The device is a change to the trace's own: the run without it stands beside, and is none of these tests'.
        sqlite3 "$BATS_FILE_TMPDIR/$name.db" "CREATE TEMP TABLE other AS
            SELECT CAST(value AS INTEGER) AS run_id FROM counter WHERE name = 'without_run_id';
            DELETE FROM run_op WHERE run_id IN other; DELETE FROM run_block WHERE run_id IN other;
            DELETE FROM run_call WHERE run_id IN other; DELETE FROM run_bin WHERE run_id IN other;
            DELETE FROM counter WHERE run_id IN other; DELETE FROM run WHERE run_id IN other;"
    done
}

# every QUERY: its one number must be 0 in each run's database.
every() {
    wrong=$(for db in "$BATS_FILE_TMPDIR"/*.db; do
        printf ".open '%s'\n.print %s\n%s;\n" "$db" "$(basename "$db" .db)" "$1"
    done | sqlite3 | paste - - | awk '$2 != 0')
    [ -z "$wrong" ] || { echo "$wrong"; false; }
}

@test "scenarios: at least 60, all run" {
    [ ! -e "$BATS_FILE_TMPDIR/failed" ] || { cat "$BATS_FILE_TMPDIR/failed"; false; }
    [ "$(ls "$BATS_FILE_TMPDIR"/*.db | wc -l)" -ge 60 ]
}

@test "scenarios: the files are what the script writes" {
    command -v python3 > /dev/null || skip "no python3"
    mkdir "$BATS_TEST_TMPDIR/again"
    python3 "$GRIDTIDE_SOURCE/traces/scenarios/make.py" "$BATS_TEST_TMPDIR/again"
    mkdir "$BATS_TEST_TMPDIR/now"
    cp -r "$GRIDTIDE_SOURCE"/traces/scenarios/*.jsonl "$GRIDTIDE_SOURCE/traces/scenarios/programs" \
        "$GRIDTIDE_SOURCE/traces/scenarios/pairs" "$GRIDTIDE_SOURCE/traces/scenarios/gpus" \
        "$GRIDTIDE_SOURCE/traces/scenarios/handed" "$BATS_TEST_TMPDIR/now"
    rm "$BATS_TEST_TMPDIR"/now/pairs/*.zst
    diff -r "$BATS_TEST_TMPDIR/now" "$BATS_TEST_TMPDIR/again"
}

@test "scenarios: at least 40 of work that the GPU hands out itself, all told and all run" {
    count=0
    for trace in "$GRIDTIDE_SOURCE"/traces/scenarios/handed/*.jsonl; do
        name=$(basename "$trace" .jsonl)
        head -n 1 "$trace" | grep -q "^// Family ${name%%-*}\. " || { echo "$name: family"; false; }
        grep -q '^// Rule: ' "$trace" || { echo "$name: rule"; false; }
        "$GRIDTIDE" run -q "$trace" -o "$BATS_TEST_TMPDIR/$name.db"
        count=$((count + 1))
    done
    [ "$count" -ge 40 ]
}

@test "scenarios: each tells family, rule and expectation, its name is its file's" {
    for trace in "$GRIDTIDE_SOURCE"/traces/scenarios/*.jsonl; do
        name=$(basename "$trace" .jsonl)
        head -n 1 "$trace" | grep -q "^// Family ${name%%-*}\. " || { echo "$name: family"; false; }
        grep -q '^// Rule: ' "$trace" || { echo "$name: rule"; false; }
        grep -Eq '^// expect [0-9.]+ us$' "$trace" || { echo "$name: expectation"; false; }
        grep -q "\"name\":\"${name%%-*}/${name#*-}\"" "$trace" || { echo "$name: name"; false; }
    done
}

@test "scenarios: the simulated time is the one worked out by hand, to 2% and 2 us" {
    wrong=$(for trace in "$GRIDTIDE_SOURCE"/traces/scenarios/*.jsonl; do
        printf ".open '%s'\n" "$BATS_FILE_TMPDIR/$(basename "$trace" .jsonl).db"
        sed -n 's/^\/\/ expect \([0-9.]*\) us$/SELECT trace, \1, makespan_us FROM run_summary;/p' "$trace"
    done | sqlite3 -separator ' ' | awk '{ off = $3 - $2; if (off < 0) off = -off }
        off > 2 + 0.02 * $2 { print $1, $2, "us expected", $3, "simulated" }')
    [ -z "$wrong" ] || { echo "$wrong"; false; }
}

@test "scenarios: short (100 us to 5 ms) and small (20,000 blocks)" {
    every "SELECT count(*) FROM run_summary WHERE makespan_us NOT BETWEEN 100 AND 5000"
    every "SELECT coalesce(sum(blocks), 0) > 20000 FROM run_block"
}

@test "scenarios: no two operations of one stream overlap, outside graphs" {
    every "SELECT count(*) FROM (
        SELECT p.start_ps < max(p.end_ps) OVER (PARTITION BY o.stream_no ORDER BY o.op_no
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS overlaps
        FROM run_op p JOIN op o USING (op_no) JOIN call c USING (call_no)
        WHERE c.kind <> 'graph_launch') WHERE overlaps"
}

@test "scenarios: no SM holds more than it can, at any time" {
    every "WITH key AS (
            SELECT key, CAST(value AS INTEGER) AS value FROM device_key),
        need AS (
            SELECT o.op_no, k.block_x * k.block_y * k.block_z AS threads,
                (k.block_x * k.block_y * k.block_z + 31) / 32 AS warps,
                (k.registers * 32 + 255) / 256 * 256 AS warp_registers,
                (k.static_shared_bytes + k.dynamic_shared_bytes + 1024 + 127) / 128 * 128 AS shared
            FROM op o JOIN kernel k USING (kernel_no)),
        step AS (
            SELECT sm, start_ps AS at_ps, op_no, blocks FROM run_block
            UNION ALL SELECT sm, end_ps, op_no, -blocks FROM run_block),
        held AS (
            SELECT total(s.blocks) OVER at AS blocks, total(s.blocks * n.threads) OVER at AS threads,
                total(s.blocks * n.warps) OVER at AS warps,
                total(s.blocks * n.warps * n.warp_registers) OVER at AS registers,
                total(s.blocks * n.shared) OVER at AS shared
            FROM step s JOIN need n USING (op_no)
            WINDOW at AS (PARTITION BY s.sm ORDER BY s.at_ps RANGE UNBOUNDED PRECEDING))
        SELECT count(*) FROM held
        WHERE blocks > (SELECT value FROM key WHERE key = 'sm.blocks')
            OR threads > (SELECT value FROM key WHERE key = 'sm.threads')
            OR warps > (SELECT value FROM key WHERE key = 'sm.warps')
            OR registers > (SELECT value FROM key WHERE key = 'sm.registers')
            OR shared > (SELECT value FROM key WHERE key = 'sm.shared_bytes')"
}

@test "scenarios: every block of every kernel ran once" {
    every "SELECT count(*) FROM (
        SELECT total(b.blocks) AS ran, k.grid_x * k.grid_y * k.grid_z AS asked
        FROM op o JOIN kernel k USING (kernel_no) LEFT JOIN run_block b USING (op_no) GROUP BY o.op_no)
        WHERE ran <> asked"
}

@test "scenarios: an operation's waits add up to its stream's idle time before it, outside graphs" {
    every "SELECT count(*) FROM (
        SELECT p.wait_host_ps + p.wait_stream_ps + p.wait_event_ps + p.wait_queue_ps + p.wait_engine_ps
                + p.wait_resource_ps AS waited_ps,
            p.start_ps - coalesce(max(p.end_ps) OVER (PARTITION BY o.stream_no ORDER BY o.op_no
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS idle_ps, c.kind
        FROM run_op p JOIN op o USING (op_no) JOIN call c USING (call_no))
        WHERE kind <> 'graph_launch' AND waited_ps <> idle_ps"
}
