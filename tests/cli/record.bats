# gridtide record: what needs no GPU of it.

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

@test "a program and when to record: what is wrong is said" {
    run -2 "$GRIDTIDE" record
    [[ "$output" == *"name a program to run"* ]]
    run -2 "$GRIDTIDE" record --from never true
    [[ "$output" == *"'never' is none of start, profiler, signal"* ]]
    run -2 "$GRIDTIDE" record --from profiler --range step true
    [[ "$output" == *"give one of them"* ]]
    run -2 "$GRIDTIDE" record --from signal --delay 1 true
    [[ "$output" == *"--delay and --duration go with --from start"* ]]
    run -2 "$GRIDTIDE" record --delay soon true
    [[ "$output" == *"'soon' is no time"* ]]
}

@test "a program without CUDA: its end is told, nothing is left behind" {
    has_recorder || skip "the recorder was not built"
    export TMPDIR="$BATS_TEST_TMPDIR/tmp"
    mkdir tmp
    run -1 "$GRIDTIDE" record -o x.jsonl -- sh -c 'exit 3' -q
    [[ "$output" == *"sh ended with status 3"*"made no CUDA call"* ]]
    run -1 "$GRIDTIDE" record -o x.jsonl /no/such/program
    [[ "$output" == *"/no/such/program: cannot be started: No such file or directory"* ]]
    [ ! -e x.jsonl ]
    for place in no/such/x.jsonl .; do
        run -1 "$GRIDTIDE" record -o "$place" -- touch ran
        [[ "$output" == "gridtide: $place: "* ]]
        [ ! -e ran ]
    done
    [ -z "$(ls -A tmp)" ]
}
