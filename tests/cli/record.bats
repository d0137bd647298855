# gridtide record: what needs no GPU of it.

bats_require_minimum_version 1.5.0

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
}

has_recorder()
{
    [ -e "$GRIDTIDE_BUILD/validate/record/libgridtide_record.so" ]
}

@test "without CUDA it says what is missing" {
    ! has_recorder || skip "the recorder was built"
    run -1 "$GRIDTIDE" record -- true
    [[ "$output" == "gridtide: this gridtide has no recorder (libgridtide_record.so): it was built without CUDA;"* ]]
}

@test "a library that is not found: the places looked at, and the variable" {
    mkdir -p elsewhere/bin
    cp "$GRIDTIDE" elsewhere/bin/gridtide
    run -1 env -u GRIDTIDE_RECORDER elsewhere/bin/gridtide record -- true
    [[ "$output" == *"elsewhere/bin/validate/record/libgridtide_record.so"* ]]
    [[ "$output" == *"GRIDTIDE_RECORDER"* ]]
    run -1 env GRIDTIDE_RECORDER=no-such.so "$GRIDTIDE" record -- true
    [[ "$output" == "gridtide: no-such.so: "* ]]
    run -1 env GRIDTIDE_RECORDER=elsewhere "$GRIDTIDE" record -- true
    [[ "$output" == "gridtide: elsewhere: cannot read"* ]]
}

@test "a library beside a moved program, and one that is named" {
    stand_in
    prefix=$(sed -n 's/.*GT_INSTALLED_PROGRAMS "\(.*\)"/\1/p' "$GRIDTIDE_BUILD/traces/io/paths.h")
    libraries=$(sed -n 's/.*GT_INSTALLED_LIBRARIES "\(.*\)"/\1/p' "$GRIDTIDE_BUILD/traces/io/paths.h")
    mkdir -p "moved$prefix" "moved$libraries"
    cp "$GRIDTIDE" "moved$prefix/gridtide"
    cp bin/validate/record/libgridtide_record.so "moved$libraries"
    GRIDTIDE_DATA=$GRIDTIDE_SOURCE/sim
    export GRIDTIDE_DATA
    run -0 "moved$prefix/gridtide" record -o x.jsonl -- true
    [[ "$output" == *"recorded: 2 kernels"* ]]
    rm -r moved
    mkdir other
    cp "$GRIDTIDE" other
    GRIDTIDE_RECORDER=bin/validate/record/libgridtide_record.so run -0 other/gridtide record -o x.jsonl -- true
    [[ "$output" == *"recorded: 2 kernels"* ]]
}

@test "CUDA_DEVICE_MAX_CONNECTIONS of the program is in the trace" {
    stand_in
    run -0 env CUDA_DEVICE_MAX_CONNECTIONS=2 bin/gridtide record -o x.jsonl -- true
    head -1 x.jsonl | grep -q '"scheduling.connections":"2"'
    run -0 env -u CUDA_DEVICE_MAX_CONNECTIONS bin/gridtide record -o x.jsonl -- true
    run -1 grep scheduling.connections x.jsonl
}

# In place of the program that measures what recording costs: it counts how often it was run.
cost_stand_in()
{
    cat > bin/validate/record/gridtide-record-cost <<'EOF'
#!/bin/sh
echo "$1" >> "$COUNTED"
[ "$1" = plain ] && echo "$1 launch 3000" || echo "$1 launch 4500"
EOF
    chmod +x bin/validate/record/gridtide-record-cost
    export COUNTED="$PWD/counted" XDG_CACHE_HOME="$PWD/cache"
    : > counted
}

@test "what recording costs is measured once, and again where it may differ" {
    stand_in
    cost_stand_in
    run -0 bin/gridtide record -o x.jsonl -- true
    [ "$(grep -c plain counted)" = 2 ]
    [ "$(wc -l < counted)" = 4 ]
    grep -q '"launch"' x.jsonl
    run -0 bin/gridtide record -o y.jsonl -- true
    [ "$(wc -l < counted)" = 4 ]
    [ "$(grep -o '"recording":{[^}]*}' y.jsonl)" = "$(grep -o '"recording":{[^}]*}' x.jsonl)" ]
    run -0 bin/gridtide record --cost measure -o y.jsonl -- true
    [ "$(wc -l < counted)" = 8 ]
    run -0 env CUDA_VISIBLE_DEVICES=1 bin/gridtide record --cost none -o y.jsonl -- true
    [ "$(wc -l < counted)" = 8 ]
    run -0 env CUDA_VISIBLE_DEVICES=1 bin/gridtide record -o y.jsonl -- true
    [ "$(wc -l < counted)" = 12 ]
    touch -d '1 hour ago' bin/validate/record/libgridtide_record.so
    run -0 bin/gridtide record -o y.jsonl -- true
    [ "$(wc -l < counted)" = 16 ]
}

@test "a cost that could not be measured is not kept, a cache that cannot be written does not matter" {
    stand_in
    cost_stand_in
    printf '#!/bin/sh\necho "$1" >> "$COUNTED"\nexit 1\n' > bin/validate/record/gridtide-record-cost
    run -0 bin/gridtide record -o x.jsonl -- true
    run -0 bin/gridtide record -o x.jsonl -- true
    [ "$(wc -l < counted)" = 8 ]
    cost_stand_in
    run -0 env XDG_CACHE_HOME=/proc/none bin/gridtide record -o x.jsonl -- true
    [ "$(wc -l < counted)" = 4 ]
}

@test "a program and when to record: what is wrong is said" {
    run -2 "$GRIDTIDE" record
    [[ "$output" == *"name a program"* ]]
    run -2 "$GRIDTIDE" record --from never true
    [[ "$output" == *"'never'; values are start, profiler, signal"* ]]
    run -2 "$GRIDTIDE" record --from profiler --range step true
    [[ "$output" == *"exclude each other"* ]]
    run -2 "$GRIDTIDE" record --from signal --delay 1 true
    [[ "$output" == *"--delay and --duration require --from start"* ]]
    run -2 "$GRIDTIDE" record --cost much true
    [[ "$output" == *"'much'; values are cached, measure, none"* ]]
    run -2 "$GRIDTIDE" record --delay soon true
    [[ "$output" == *"not 'soon'"* ]]
}

@test "a program without CUDA: its end is told, nothing is left behind" {
    has_recorder || skip "the recorder was not built"
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir tmp
    run -1 "$GRIDTIDE" record -o x.jsonl -- sh -c 'exit 3' -q
    [[ "$output" == *"sh exited with status 3"*"made no successful CUDA call"* ]]
    run -1 "$GRIDTIDE" record -o x.jsonl /no/such/program
    [[ "$output" == *"cannot start /no/such/program: No such file or directory"* ]]
    [ ! -e x.jsonl ]
    for place in no/such/x.jsonl .; do
        run -1 "$GRIDTIDE" record -o "$place" -- touch ran
        [[ "$output" == "gridtide: $place: "* ]]
        [ ! -e ran ]
    done
    [ -z "$(ls -A tmp)" ]
}

# A gridtide of its own, with a library in the recorder's place that needs no GPU.
stand_in()
{
    command -v cc > /dev/null || skip "no compiler"
    mkdir -p bin/validate/record
    cp "$GRIDTIDE" "$GRIDTIDE_BUILD/gridtide.source" bin/
    cc -D_GNU_SOURCE -I"$GRIDTIDE_SOURCE" -shared -fPIC -o bin/validate/record/libgridtide_record.so \
        "$GRIDTIDE_SOURCE/tests/data/recorder_stub.c" "$GRIDTIDE_SOURCE"/validate/record/{chunks,writer}.c -lpthread
}

@test "a program that fails: its status is told, the trace is written all the same" {
    stand_in
    run -1 bin/gridtide record -o x.jsonl -- sh -c 'exit 7'
    [[ "$output" == *"sh exited with status 7"* ]]
    [[ "$output" == *"recorded: 2 kernels, 0 copies,"* ]]
    grep -q '"name":"cudaLaunchKernel"' x.jsonl
    run -0 bin/gridtide record -q -o x.jsonl -- true
    [ "$output" = "" ]
}

@test "SIGUSR2 goes on to the processes that are recorded, SIGTERM to the program" {
    stand_in
    bin/gridtide record --from signal --keep kept -o x.jsonl -- sleep 20 > out 2>&1 3>&- &
    for _ in $(seq 200); do
        [ -z "$(ls kept 2> /dev/null)" ] || break
        sleep 0.1
    done
    for times in 1 2; do
        sleep 0.2
        kill -USR2 $!
    done
    sleep 0.2
    kill -TERM $!
    ended=0
    wait $! || ended=$?
    [ $ended = 1 ]
    grep -q 'sleep was terminated by signal 15' out
    [ "$(grep -c '"name":"cudaAsked"' x.jsonl)" = "$times" ]
}

@test "SIGUSR2 while no process uses CUDA is told" {
    mkdir -p bin/validate/record
    cp "$GRIDTIDE" "$GRIDTIDE_BUILD/gridtide.source" bin/
    printf '' > bin/validate/record/libgridtide_record.so
    bin/gridtide record --from signal -o x.jsonl -- sleep 20 > out 2>&1 3>&- &
    sleep 0.5
    kill -USR2 $!
    sleep 0.5
    kill -TERM $!
    ended=0
    wait $! || ended=$?
    [ $ended = 1 ]
    grep -q 'no process uses CUDA yet; the signal was not forwarded' out
}

@test "--report: from the program to the answer" {
    stand_in
    run -0 bin/gridtide record -o x.jsonl --report answer -- true
    [ -e answer.db ]
    [ -e answer/index.html ]
    [[ "$output" == *"bound by "* ]]
    mkdir empty
    run -1 env PATH="$PWD/empty" bin/gridtide record -o y.jsonl --report other -- true
    [[ "$output" == "gridtide: gnuplot is missing; install gnuplot-nox"* ]]
    [ ! -e y.jsonl ]
}
