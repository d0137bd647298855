# gridtide run: a trace and a device in, a whole store out or none.

setup() {
    cd "$BATS_TEST_TMPDIR"
    cat > toy.jsonl <<'END'
{"gridtide":1,"name":"toy trace","device":"h200"}
{"kernel":"k","grid":[132],"block":[256],"duration_us":20}
{"call":"launch","kernel":"k","stream":"a","start_us":10,"duration_us":2,"op_start_us":15,"op_duration_us":20}
{"call":"launch","kernel":"k","stream":"b","start_us":20,"duration_us":2,"op_start_us":40,"op_duration_us":20}
{"call":"copy","direction":"d2h","bytes":4096,"stream":"b"}
{"call":"device_sync"}
END
}

sql() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    sqlite3 "$@"
}

nothing_left() {
    [ -z "$(find . -name '.gridtide-*')" ]
}

# A trace long enough to be caught in the middle of.
long_trace() {
    echo '{"gridtide":1,"device":"h200"}'
    echo '{"kernel":"k","grid":[1],"block":[32],"duration_us":2}'
    yes '{"call":"launch","kernel":"k","stream":"a"}' | head -n "$1"
}

@test "run: a table of the result, a store named after the trace" {
    run "$GRIDTIDE" run toy.jsonl
    [ "$status" -eq 0 ]
    [ -f toy.db ]
    grep -Eq '^trace +toy trace$' <<< "$output"
    grep -Eq '^device +NVIDIA H200$' <<< "$output"
    grep -Eq '^operations +3$' <<< "$output"
    grep -Eq '^makespan_measured_us +45\.000$' <<< "$output"
    nothing_left
}

@test "run: measured and simulated runs stand side by side, references hold" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db
    [ "$(sql run.db 'select group_concat(kind) from run where whole')" = measured,simulated ]
    [ "$(sql run.db 'select options from run where run_id = 2')" = "blocks=on seed=1" ]
    [ "$(sql run.db 'select count(*) from run_op where run_id = 1')" = 2 ]
    [ "$(sql run.db 'select count(*) from run_op where run_id = 2')" = 3 ]
    [ "$(sql run.db 'select count(*) from op_error')" = 2 ]
    [ "$(sql run.db 'select cast(value as integer) from comparison where metric = "unmatched"')" = 1 ]
    [ "$(sql run.db 'pragma integrity_check')" = ok ]
    [ -z "$(sql run.db 'pragma foreign_key_check')" ]
}

@test "run: every view can be read" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db
    for view in $(sql run.db "select name from sqlite_schema where type = 'view'"); do
        rows=$(sql run.db "select * from $view")
        # Its kernels have no program, run one at a time and hand out no tasks, nobody named steps or asked what if.
        [ -n "$rows" ] || [[ " answer kernel_cycles overlap poll step task_time worker " == *" $view "* ]] || { echo "$view is empty"; false; }
    done
}

@test "run: without measurements there is no measured run" {
    grep -v start_us toy.jsonl > typed.jsonl
    run "$GRIDTIDE" run typed.jsonl
    [ "$status" -eq 0 ]
    grep -Eq '^makespan_measured_us +-$' <<< "$output"
    [ "$(sql typed.db 'select group_concat(kind) from run')" = simulated ]
}

@test "run: the same command twice gives the same store" {
    "$GRIDTIDE" run -q toy.jsonl -o one.db
    "$GRIDTIDE" run -q toy.jsonl -o two.db
    cmp one.db two.db
}

@test "run: -q says nothing" {
    run "$GRIDTIDE" run -q toy.jsonl
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "run: --set changes a key, the store knows" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db --set scheduling.connections=3 --set chip.name="my GPU"
    [ "$(sql run.db 'select value from device_key where device_id = 1 and key = "scheduling.connections"')" = 3 ]
    [ "$(sql run.db 'select name from device where device_id = 1')" = "my GPU" ]
    [ "$(sql run.db 'select options from run where run_id = 3')" = \
      "blocks=on seed=1 set=scheduling.connections=3 set=chip.name=my GPU" ]
}

@test "run: settings typed into a trace hold over its device file" {
    sed 's/"device":"h200"/&,"settings":{"scheduling.connections":"3"}/' toy.jsonl > set.jsonl
    "$GRIDTIDE" run -q set.jsonl
    [ "$(sql set.db 'select value from device_key where device_id = 1 and key = "scheduling.connections"')" = 3 ]
}

@test "run: a GPU without a device file is built from the trace's settings, and that is said" {
    sed 's/"device":"h200"/"settings":{"chip.name":"Odd GPU","chip.sms":"7"}/' toy.jsonl > odd.jsonl
    run "$GRIDTIDE" run odd.jsonl
    [ "$status" -eq 0 ]
    grep -q "using the trace's device block" <<< "$output"
    [ "$(sql odd.db 'select name || sms from device')" = "Odd GPU7" ]
}

@test "run: a trace that names no device gets an H200, and that is said" {
    sed 's/,"device":"h200"//' toy.jsonl > bare.jsonl
    run "$GRIDTIDE" run bare.jsonl
    [ "$status" -eq 0 ]
    grep -q 'names no device: using h200' <<< "$output"
}

@test "run: --streams makes a second trace, held against the first" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db --streams 1
    [ "$(sql run.db 'select group_concat(name) from trace')" = "toy trace,toy trace (baseline),toy trace (streams=1)" ]
    [ "$(sql run.db 'select base_trace_id from trace where trace_id = 3')" = 1 ]
    [ "$(sql run.db 'select group_concat(trace_id) from run where kind = "simulated" order by run_id')" = 2,3 ]
    [ "$(sql run.db 'select count(*) from op_error where simulated_run_id = 3')" = 2 ]
    run "$GRIDTIDE" compare run.db
    grep -Eq '^unmatched +1$' <<< "$output"
}

@test "run: --serialize and --blocks off are recorded" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db --serialize --blocks off
    [ "$(sql run.db 'select options from run where run_id = 2')" = "blocks=off seed=1" ]
    [ "$(sql run.db 'select options from run where run_id = 3')" = "blocks=off seed=1 serialize=on" ]
    [ "$(sql run.db 'select count(*) from run_block')" = 0 ]
}

@test "run: a profile is imported on the fly" {
    run "$GRIDTIDE" run "$GRIDTIDE_SOURCE/traces/samples/cuda-fork-join.json.gz" -o run.db
    [ "$status" -eq 0 ]
    grep -q 'warning: event-waits-unknown' <<< "$output"
    [ "$(sql run.db 'select source from trace')" = kineto ]
}

@test "run: a trace on standard input" {
    "$GRIDTIDE" run -q - -o run.db < toy.jsonl
    [ -s run.db ]
}

# The makespan that a recorded loop has with these options: launch, synchronise, launch, copy that blocks.
recorded_loop() {
    cat > loop.jsonl <<'TRACE'
{"gridtide":1,"device":"toy"}
{"kernel":"k","grid":1,"block":32}
{"call":"launch","kernel":"k","stream":"s","start_us":0,"duration_us":2,"op_start_us":5,"op_duration_us":10}
{"call":"stream_sync","stream":"s","start_us":2,"duration_us":15}
{"call":"launch","kernel":"k","stream":"s","start_us":20,"duration_us":2,"op_start_us":25,"op_duration_us":10}
{"call":"stream_sync","stream":"s","start_us":22,"duration_us":15}
{"call":"copy","direction":"d2h","bytes":4,"synchronous":true,"stream":"s","start_us":40,"duration_us":10,"op_start_us":44,"op_duration_us":4}
{"call":"launch","kernel":"k","stream":"s","start_us":50,"duration_us":2,"op_start_us":55,"op_duration_us":10}
TRACE
    "$GRIDTIDE" run -q loop.jsonl -o loop.db "$@"
    "$GRIDTIDE" compare loop.db --format json | grep -A 2 makespan_us | sed -n 's/.*"simulated": \([0-9.]*\).*/\1/p'
}

@test "run: a what-if moves what was recorded" {
    [ "$(recorded_loop)" = 60 ]
    [ "$(recorded_loop --set host.sync_return_us=10)" = 90 ]     # three calls that block, each returns later
    [ "$(recorded_loop --set latency.launch_us=10)" = 80 ]       # the first launch's moves all alike
    [ "$(recorded_loop --set latency.copy_submit_us=10)" = 70 ]
    [ "$(recorded_loop --set host.launch_call_us=11)" = 80 ]
    [ "$(recorded_loop --set host.copy_call_us=11)" = 70 ]
}

# Twice the same kernel, 10 us each, starts 30 us apart: 40 us from the first start to the last end.
changed() {
    cat > change.jsonl <<'TRACE'
{"gridtide":1,"device":"toy"}
{"kernel":"k","grid":1,"block":32}
{"call":"launch","kernel":"k","stream":"s","start_us":0,"duration_us":2,"op_start_us":5,"op_duration_us":10}
{"call":"launch","kernel":"k","stream":"s","start_us":30,"duration_us":2,"op_start_us":35,"op_duration_us":10}
TRACE
    run "$GRIDTIDE" run change.jsonl -o change.db "$@"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "run: a change is held against the simulated run without it, which is stored first" {
    changed --set chip.clock_mhz=500
    grep -qx '  chip.clock_mhz 1000 -> 500' <<< "$output"
    grep -q 'kernel launches, 100% of kernel time, x2.00' <<< "$output"
    [[ "$output" != *error* ]]
    [ "$(sql change.db 'select group_concat(kind) from run order by run_id')" = measured,simulated,simulated ]
    [ "$(sql change.db 'select value from counter where run_id = 3 and name = "without_run_id"')" = 2 ]
    [ "$(sql change.db 'select options from run where run_id = 2')" = "blocks=on seed=1" ]
    run "$GRIDTIDE" compare change.db
    [ "$status" -eq 0 ]
    grep -Eq '^makespan_without_us +40.000$' <<< "$output"
    grep -Eq '^makespan_change_pct +22.000$' <<< "$output"
    grep -Eq '^makespan_error_pct +0.000$' <<< "$output"
    run "$GRIDTIDE" stats change.db
    grep -Eq '^makespan +48\.8 us$' <<< "$output"
    grep -q 'run 3 has a change, run 2 is without it' <<< "$output"
    run "$GRIDTIDE" compare change.db -f json
    [[ "$output" == *'"makespan_change_pct": 22'* ]]
}

@test "run: what is no change is simulated once" {
    changed
    [ "$(sql change.db 'select count(*) from run')" = 2 ]
    for words in "--device toy" "--set chip.sms=2" "--blocks off" "--seed 2"; do
        # shellcheck disable=SC2086 # words
        changed $words
        [ "$(sql change.db 'select count(*) from run')" = 2 ]
        [[ "$output" != *"without the change"* ]]
    done
    # A trace that names no device has none to change.
    sed 's/,"device":"toy"//' change.jsonl > bare.jsonl
    run "$GRIDTIDE" run bare.jsonl --device toy -o bare.db
    [ "$status" -eq 0 ]
    [ "$(sql bare.db 'select count(*) from run')" = 2 ]
}

@test "run: each change says what it scales and assumes" {
    changed --streams 2
    grep -q '  streams 1 -> 2$' <<< "$output"
    grep -q '^step unknown' <<< "$output" # nothing says what is independent
    changed --streams 2 --independent '*'
    grep -q 'are independent by --independent' <<< "$output"
    changed --serialize
    grep -q '  serialized: every operation waits' <<< "$output"
    changed --device h200
    grep -q '  device toy -> NVIDIA H200: 2 -> 132 SMs, 1000 -> 1980 MHz' <<< "$output"
    grep -q 'kernel launches, 100% of kernel time, x0\.' <<< "$output"
    changed --set host.launch_call_us=5
    grep -Eq '  host.launch_call_us [0-9.]+ -> 5' <<< "$output"
    [[ "$output" != *"of kernel time"* ]]
}

@test "run, whatif and sweep print the same answer to one question" {
    trace="$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz"
    for spec in chip.sms=66 scheduling.connections=1 device=a100; do
        case $spec in
        device=*) option="--device ${spec#device=}" ;;
        *) option="--set $spec" ;;
        esac
        # shellcheck disable=SC2086 # two words
        "$GRIDTIDE" run -q "$trace" $option -o one.db
        # shellcheck disable=SC2086
        "$GRIDTIDE" run "$trace" $option -o one.db 2> /dev/null | awk '$1 ~ /^(step|low|high)_us$|^change_pct$|^trust$/ { print $2 }' > of_run
        "$GRIDTIDE" whatif -q "$trace" --change "$spec" -f json |
            jq -r '.changes[0] | [.step_us, .low_us, .high_us, .change_pct, .trust] | .[]' > of_whatif
        "$GRIDTIDE" sweep -q "$trace" --over "$spec" -o sweep.db -f json > of_sweep
        paste of_run of_whatif | awk -F '\t' '{ d = $1 - $2; if (d < 0) d = -d; if ($1 != $2 && (d > 0.06 || $1 + 0 == 0)) exit 1 }'
        [ "$(jq '.. | .step_us? // empty' of_sweep | tail -n 1 | cut -c 1-8)" = "$(sed -n 1p of_whatif | cut -c 1-8)" ]
        rm one.db sweep.db
    done
}

@test "run: what the README shows is what is printed" {
    "$GRIDTIDE" run "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" --set chip.sms=66 -o half.db > printed
    sed -n '/half.db` says:$/,/^## /p' "$GRIDTIDE_SOURCE/README.md" | sed -n 's/^    //p' > shown
    [ "$(wc -l < shown)" -ge 8 ]
    # Beside what is printed stands how to read it, after two blanks or more.
    while IFS= read -r line; do
        grep -qF -- "$(sed 's/\([^ ]\)   .*/\1/; s/ *$//' <<< "$line" | sed 's/  .*//')" printed
        [[ "$line" != makespan_*_us* || "$(awk '{ print $2 }' <<< "$line")" = \
           "$(awk -v key="${line%% *}" '$1 == key { print $2 }' printed)" ]]
    done < shown
}

@test "run: what was written, and what to do next" {
    run "$GRIDTIDE" run toy.jsonl -o run.db
    [ "$status" -eq 0 ]
    [ "${lines[-2]}" = "written to run.db; next: 'gridtide explain run.db' for what limits the run; or stats, report, compare, export" ]
    [ "${lines[-1]}" = "to find what makes it faster: 'gridtide whatif toy.jsonl --all'" ]
}

@test "run: wrong usage exits 2" {
    for arguments in "" "a b" "toy.jsonl --blocks maybe" "toy.jsonl --streams 0" "toy.jsonl --streams -1" \
            "toy.jsonl --seed x" "toy.jsonl --set nothing" "toy.jsonl --set =1" "toy.jsonl --frobnicate"; do
        run "$GRIDTIDE" run $arguments
        [ "$status" -eq 2 ] || { echo "$arguments: $status"; false; }
    done
    nothing_left
}

@test "run: what cannot be done exits 1 and leaves nothing" {
    mkdir folder
    : > empty.jsonl
    head -c 4096 /dev/urandom > random.bin
    for arguments in "none.jsonl" "folder" "empty.jsonl" "random.bin" "toy.jsonl --device nonesuch" \
            "toy.jsonl --set no.key=1" "toy.jsonl --set chip.sms=0" "toy.jsonl -o folder" \
            "toy.jsonl -o none/run.db" "toy.jsonl -o /dev/full" "toy.jsonl -o toy.jsonl" "toy.jsonl -o -"; do
        run "$GRIDTIDE" run $arguments
        [ "$status" -eq 1 ] || { echo "$arguments: $status"; false; }
        [[ "$output" == "gridtide: "* ]] || { echo "$arguments: $output"; false; }
    done
    nothing_left
    [ -z "$(find . -name '*.db')" ]
    grep -q '"gridtide":1' toy.jsonl
}

@test "run: a kernel that fits no SM leaves the old store as it was" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db
    cp run.db old.db
    sed 's/"block":\[256\]/"block":[256],"shared_bytes":100000000/' toy.jsonl > big.jsonl
    run "$GRIDTIDE" run -q big.jsonl -o run.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"--blocks off"* ]]
    cmp run.db old.db
    nothing_left
}

@test "run: a kernel's long name leaves room for what is wrong with it" {
    name=$(head -c 5000 /dev/zero | tr '\0' k)
    sed "s/\"k\"/\"$name\"/; s/\"block\":\[256\]/\"block\":[2048]/" toy.jsonl > long.jsonl
    run "$GRIDTIDE" run -q long.jsonl -o run.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"a block of 2048 threads"* ]]
}

@test "run: no room on the disk leaves the old store as it was" {
    "$GRIDTIDE" run -q toy.jsonl -o run.db
    cp run.db old.db
    long_trace 20000 > long.jsonl
    run bash -c 'ulimit -f 500; exec "$GRIDTIDE" run -q long.jsonl -o run.db'
    [ "$status" -eq 1 ]
    [[ "$output" == *"run.db: cannot write: "* ]]
    cmp run.db old.db
    nothing_left
}

@test "run: a really full disk" {
    mkdir small
    mount -t tmpfs -o size=300k none small 2> /dev/null || skip "cannot mount a small file system"
    long_trace 20000 > long.jsonl
    run "$GRIDTIDE" run -q long.jsonl -o small/run.db
    left=$(ls -A small)
    umount small
    [ "$status" -eq 1 ]
    [[ "$output" == *"run.db: cannot write: the disk is full"* ]]
    [ -z "$left" ]
}

# Kill with signal $1 once the store is being filled.
kill_while_writing() {
    "$GRIDTIDE" run -q long.jsonl -o run.db &
    until [ -n "$(find . -name '.gridtide-*' -size +200k)" ]; do
        kill -0 $! 2> /dev/null || skip "it was done before it could be killed"
    done
    kill "-$1" $!
    wait $! || true
}

@test "run: killed while writing, it leaves the old store as it was" {
    long_trace 200000 > long.jsonl
    kill_while_writing KILL
    [ ! -e run.db ]
    rm -f .gridtide-*
    "$GRIDTIDE" run -q toy.jsonl -o run.db
    cp run.db old.db
    kill_while_writing KILL
    cmp run.db old.db
}

@test "run: what a killed run left behind is swept away, what a living one writes is not" {
    long_trace 200000 > long.jsonl
    kill_while_writing KILL
    [ -n "$(find . -name '.gridtide-*')" ]
    touch -d '2 minutes ago' .gridtide-*
    echo mine > .gridtide-notes
    touch -d '2 minutes ago' .gridtide-notes
    if command -v flock > /dev/null; then
        exec 9> .gridtide-living
        flock 9
        touch -d '2 minutes ago' .gridtide-living
    fi
    "$GRIDTIDE" run -q toy.jsonl -o run.db 9>&-
    if command -v flock > /dev/null; then
        [ -e .gridtide-living ]
        exec 9>&-
        rm .gridtide-living
    fi
    [ "$(find . -name '.gridtide-*')" = ./.gridtide-notes ]
    rm .gridtide-notes
}

@test "run: interrupted while writing, it cleans up" {
    long_trace 200000 > long.jsonl
    kill_while_writing TERM
    [ ! -e run.db ]
    nothing_left
}

@test "run: where the host is simulated the makespan has a range, the same for the same seed" {
    trace=$GRIDTIDE_SOURCE/traces/scenarios/host-launch-bound.jsonl
    run "$GRIDTIDE" run "$trace" -o one.db
    [ "$status" -eq 0 ]
    [[ $(tr '\n' ' ' <<< "$output") =~ makespan\ [0-9,]+\ us\;\ 90%\ interval\ [0-9,]+\ us\ to\ [0-9,]+\ us ]]
    "$GRIDTIDE" run -q "$trace" -o same.db
    "$GRIDTIDE" run -q "$trace" --seed 2 -o other.db
    counters="select name, value from counter where name like 'makespan_%_us' or name = 'noise_draws' order by 1"
    [ "$(sql one.db "select count(*) from ($counters)")" -eq 3 ]
    [ "$(sql one.db "$counters")" = "$(sql same.db "$counters")" ]
    [ "$(sql one.db "$counters")" != "$(sql other.db "$counters")" ]
    [ "$(sql one.db "select (select value from counter where name = 'makespan_low_us') < makespan_us and
        makespan_us < (select value from counter where name = 'makespan_high_us') from run_summary")" -eq 1 ]
}

@test "run: recorded calls keep their times, so there is no range" {
    run "$GRIDTIDE" run toy.jsonl
    [ "$status" -eq 0 ]
    [[ $output != *"90% interval"* ]]
    [ "$(sql toy.db "select count(*) from counter where name in ('makespan_low_us', 'noise_draws')")" -eq 0 ]
}

@test "run: a replay that departs from its recording says where it first does, and the store keeps it" {
    # Two kernels of one stream that were recorded together, 10 .. 110 and 20 .. 120: that cannot be played.
    cat > departs.jsonl << 'END'
{"gridtide":1,"name":"departs","device":"h200"}
{"kernel":"k","grid":8,"block":128,"registers":32}
{"kernel":"l","grid":8,"block":128,"registers":32}
{"call":"launch","kernel":"k","stream":"a","start_us":0,"duration_us":4,"op_start_us":10,"op_duration_us":100}
{"call":"launch","kernel":"l","stream":"a","start_us":5,"duration_us":4,"op_start_us":20,"op_duration_us":100}
{"call":"device_sync","start_us":10,"duration_us":115}
END
    run "$GRIDTIDE" run departs.jsonl -o departs.db
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: replay-departs: the replay is "*"% longer than the recording: the first difference is at 10.0 us, where "* ]]
    [[ "$output" == *"where l in stream a (operation 1) starts "*" us late; in the replay it waited for: stream ("* ]]
    [[ "$output" == *"previous operation of the stream: k in stream a); what-if predictions from this trace are unreliable"* ]]
    [ "$(sqlite3 departs.db "select count(*) from warning where kind = 'replay-departs'")" = 1 ]
    # With a change it is the replay without it that is held against the recording.
    run "$GRIDTIDE" run departs.jsonl --set chip.sms=66 -o departs.db
    [[ "$output" == *"operation 1) starts "* ]]
    run "$GRIDTIDE" run -q departs.jsonl -o departs.db
    [ -z "$output" ]
    [ "$(sqlite3 departs.db "select count(*) from warning where kind = 'replay-departs'")" = 1 ]
}

@test "run: a replay that is as recorded does not depart" {
    run "$GRIDTIDE" run "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" -o same.db
    [ "$status" -eq 0 ]
    [[ "$output" != *replay-departs* ]]
}

@test "run --gaps=calibrated: the GPU's gaps of the device file, not of the recording" {
    trace="$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-1.json.gz"
    "$GRIDTIDE" run -q "$trace" -o recorded.db
    "$GRIDTIDE" run -q --gaps=calibrated "$trace" -o calibrated.db
    makespan_error() { "$GRIDTIDE" compare "$1" -f csv | sed -n 's/\r$//; 2p' | cut -d, -f 9; }
    [ "$(makespan_error recorded.db)" = 0 ]
    [ "$(makespan_error calibrated.db)" != 0 ]
    [[ "$(sqlite3 calibrated.db "SELECT options FROM run WHERE kind = 'simulated'")" == *gaps=calibrated* ]]
    run "$GRIDTIDE" run --gaps=none "$trace"
    [ "$status" -eq 2 ]
}
