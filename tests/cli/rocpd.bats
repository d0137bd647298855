# gridtide import rocpd: a database of rocprofv3 comes in, replays as recorded, and says what it cannot answer.

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    sqlite3 -cmd "PRAGMA synchronous = OFF" step.db < "$GRIDTIDE_SOURCE/tests/data/rocpd.sql"
}

@test "the format is found by the tables, named or not, packed or not" {
    run "$GRIDTIDE" import step.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"(rocpd)"*"operations  4: 2 kernels, 2 copies, 0 memsets"*"calls       9"* ]]
    [[ "$output" == *"warning: gpu-not-modelled"* ]]
    "$GRIDTIDE" import -q step.db -o plain.jsonl
    gzip -c step.db > packed
    "$GRIDTIDE" import -q rocpd packed -o packed.jsonl
    cmp <(sed 1d plain.jsonl) <(sed 1d packed.jsonl)
    "$GRIDTIDE" import -q plain.jsonl -o again.jsonl
    cmp plain.jsonl again.jsonl
}

# Schema 4.1 gives them a table, so that their ids are not those of strings.
@test "categories of events in a table of their own" {
    sqlite3 step.db "CREATE TABLE rocpd_info_category_a1 (id INTEGER PRIMARY KEY, guid TEXT, name TEXT NOT NULL);
        INSERT INTO rocpd_info_category_a1 (id, name) SELECT 9 - id, string FROM rocpd_string_a1 WHERE id <= 5;"
    "$GRIDTIDE" import -q step.db -o strings.jsonl
    run grep -c '"range":"step"' strings.jsonl
    [ "$output" -eq 0 ]
    sqlite3 step.db "UPDATE rocpd_event_a1 SET category_id = 9 - category_id"
    "$GRIDTIDE" import -q step.db -o table.jsonl
    [ "$(grep -c '"range":"step"' table.jsonl)" -eq 1 ]
}

# The first operation begins at 2.5 us, the last one ends at 24.5 us.
@test "run replays the recorded durations" {
    "$GRIDTIDE" import -q step.db -o step.jsonl
    run "$GRIDTIDE" run step.jsonl -o run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"no model of the trace's GPU"* ]]
    [[ "$output" == *"makespan_measured_us  22.000"* ]]
    [[ "$output" == *"makespan_simulated_us 22.000"* ]]
    run "$GRIDTIDE" stats run.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"aten::mul"* ]]
}

@test "changes that need a model of the GPU are refused, with those that do not" {
    "$GRIDTIDE" import -q step.db -o step.jsonl
    for change in graph streams=2 device=h100 chip.sms=66 pinned; do
        run "$GRIDTIDE" whatif -q step.jsonl --change "$change"
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: $change: the recording is of a GPU of which there is no model"*"kernel, remove"* ]]
        [ "${#lines[@]}" -eq 1 ]
    done
    for option in --set=chip.sms=66 --device=h200 --streams=2; do
        run "$GRIDTIDE" run -q step.jsonl "$option" -o changed.db
        [ "$status" -eq 1 ]
        [[ "$output" == "gridtide: step.jsonl: there is no model of the recorded GPU"* ]]
        [ ! -e changed.db ]
    done
    run "$GRIDTIDE" whatif -q step.jsonl --all
    [ "$status" -eq 0 ]
    [[ "$output" != *"graph"* ]]
}

# The kernel that takes 5 us of the critical path takes 2.5.
@test "a kernel's duration may be asked about: low trust, and says why" {
    "$GRIDTIDE" import -q step.db -o step.jsonl
    run "$GRIDTIDE" whatif -q step.jsonl --change 'kernel=scale*0.5'
    [ "$status" -eq 0 ]
    [[ "$output" == *" low "* ]]
    [[ "$output" == *"There is no model of the recorded GPU"* ]]
    [[ "$output" == *"21.7"* ]] # 24.2 - 2.5
}

@test "a device file that the user names is a model" {
    "$GRIDTIDE" import -q step.db -o step.jsonl
    run "$GRIDTIDE" whatif -q step.jsonl --device h200 --change graph
    [ "$status" -eq 0 ]
    [[ "$output" != *"There is no model"* ]]
}

@test "what is broken is one line that names the file" {
    head -c 4096 step.db > cut.db
    sqlite3 old.rpd "CREATE TABLE rocpd_string (id, string); CREATE TABLE rocpd_api (id)"
    for file in cut.db old.rpd; do
        run timeout 20 "$GRIDTIDE" import rocpd "$file" -o no.jsonl
        [ "$status" -eq 1 ]
        [ "${#lines[@]}" -eq 1 ]
        [[ "$output" == "gridtide: $file: "* ]]
        [ ! -e no.jsonl ]
    done
    [[ "$output" == *"no tables of rocprofv3"* ]]
}

@test "PyTorch's profile of an AMD GPU: hip calls are what cuda calls are" {
    run "$GRIDTIDE" import kineto "$GRIDTIDE_SOURCE/tests/data/kineto-rocm.json" -o rocm.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: gpu-not-modelled"* ]]
    [ "$(grep -c '"call":"launch"' rocm.jsonl)" -eq 2 ]
    [ "$(grep -c '"call":"device_sync"' rocm.jsonl)" -eq 1 ]
    run "$GRIDTIDE" whatif -q rocm.jsonl --change graph
    [ "$status" -eq 1 ]
}

@test "explain proposes no change that whatif would refuse" {
    "$GRIDTIDE" import -q step.db -o step.jsonl
    run "$GRIDTIDE" explain -q --full step.jsonl
    [ "$status" -eq 0 ]
    [[ "$output" == *"--change no-readback"* ]]
    [[ "$output" != *"--change graph"* ]]
    [[ "$output" != *"--change streams"* ]]
    [[ "$output" != *"--change pinned"* ]]
}
