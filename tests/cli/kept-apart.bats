# Runs measured while CUPTI kept copies within the device apart from kernels are held against a device that does so.

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' '{"gridtide":1,"name":"beside","device":"h200"}' \
        '{"kernel":"k","grid":1,"block":32,"block_us":100}' \
        '{"call":"launch","kernel":"k","stream":"s"}' \
        '{"call":"copy","direction":"d2d","bytes":4096,"stream":"t"}' '{"call":"device_sync"}' > beside.jsonl
}

# copy_start OPTIONS: when the copy starts after the kernel, simulated, in whole us; measured runs have these options.
copy_start() {
    rm -f measured.db now.db
    "$GRIDTIDE" run -q beside.jsonl -o measured.db
    sqlite3 measured.db "UPDATE run SET kind = 'measured', options = '$1'"
    "$GRIDTIDE" validate beside.jsonl --measured measured.db --repeat 1 --blocks off -o now.db > validated
    sqlite3 now.db "SELECT (c.start_ps - k.start_ps) / 1000000 FROM run r JOIN run_op k ON k.run_id = r.run_id AND k.op_no = 0
        JOIN run_op c ON c.run_id = r.run_id AND c.op_no = 1 WHERE r.kind = 'simulated' ORDER BY r.run_id LIMIT 1"
}

@test "kept apart: a copy within the device runs beside a kernel where the measured run recorded kernels" {
    [ "$(copy_start 'seed=1 kernels=recorded')" -lt 50 ]
}

@test "kept apart: it waits for the kernel where CUPTI recorded copies only" {
    [ "$(copy_start 'seed=1')" -ge 100 ]
}
