# gridtide import rpd: a database of rocmProfileData, by the published schema (tests/data/rpd.sql).

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    sqlite3 -cmd "PRAGMA synchronous = OFF" step.rpd < "$GRIDTIDE_SOURCE/tests/data/rpd.sql"
}

# 1000 x 4 threads in groups of 64 x 2 are 16 x 2 groups. The barrier is left out, the last kernel gets a call of its own.
@test "calls, operations, markers; streams by their pointers; grids in blocks or in threads" {
    run "$GRIDTIDE" import step.rpd -o step.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"step.rpd (rpd)"* ]]
    [[ "$output" == *"operations  6: 3 kernels, 2 copies, 1 memsets"* ]]
    [[ "$output" == *"gpu-not-modelled"* ]]
    [[ "$output" == *"calls-missing: "*"(1 times)"* ]]
    [[ "$output" == *"launch-shapes-unknown: "*"(1 times)"* ]]
    grep -q '^{"kernel":"scale(float\*)","grid":\[8\],"block":\[256\],"shared_bytes":1024}' step.jsonl
    grep -q '^{"kernel":"gemm","grid":\[16,2\],"block":\[64,2\]}' step.jsonl
    grep -q '^{"range":"step 0","kind":"nvtx","thread":8,"start_ns":0,"duration_ns":58000}' step.jsonl
    grep -q '"name":"hipMemcpyAsync".*"direction":"h2d","bytes":1048576,.*"op_start_ns":1000,"op_duration_ns":6000' step.jsonl
    grep -q '"name":"hipMemcpy".*"direction":"d2h","bytes":4096,' step.jsonl
    [ "$(jq -r 'select(.kernel == "gemm" and .call) | .stream' step.jsonl)" -eq $((0x7f02)) ]
    run "$GRIDTIDE" run step.jsonl -o run.db
    # The first operation starts at 3 us, the last one ends at 44.
    [[ "$output" == *"makespan_measured_us  41.000"*"makespan_simulated_us 41.000"* ]]
}

@test "arguments in a table of their own" {
    "$GRIDTIDE" import -q step.rpd -o strings.jsonl
    sqlite3 step.rpd "CREATE TABLE rocpd_ustring (id integer NOT NULL PRIMARY KEY, string varchar(4096) NOT NULL);
        INSERT INTO rocpd_ustring VALUES (1, ''), (2, 'step 0'); UPDATE rocpd_string SET string = 'other' WHERE id = 8;
        UPDATE rocpd_api SET args_id = 2 WHERE args_id = 8"
    "$GRIDTIDE" import -q step.rpd -o apart.jsonl
    cmp strings.jsonl apart.jsonl
}

@test "what is broken is one line that names the file" {
    head -c 8192 step.rpd > cut.rpd
    cp step.rpd times.rpd
    sqlite3 times.rpd "UPDATE rocpd_op SET end = 5 WHERE id = 4294967298"
    cp step.rpd lacks.rpd
    sqlite3 lacks.rpd "DROP TABLE rocpd_kernelapi"
    while read -r name wrong; do
        run timeout 20 "$GRIDTIDE" import rpd "$name.rpd" -o no.jsonl
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" == "gridtide: $name.rpd: "*"$wrong"* ]]
        [ ! -e no.jsonl ]
    done << 'END'
cut truncated: 8192 bytes
times table rocpd_op, row 4294967298: it starts at 9500 and ends at 5
lacks the database has no table rocpd_kernelapi
END
}
