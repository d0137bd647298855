# What no program should be given: each is refused with a reason that names the file, exit status 1,
# in reasonable time and memory, and leaves nothing behind.

setup()
{
    cd "$BATS_TEST_TMPDIR"
    mkdir out
}

# refused FILE: by import, as every format, and by run.
refused()
{
    for format in '' kineto nsys gridtide; do
        run timeout 60 "$GRIDTIDE" import $format "$1" -o out/trace.jsonl
        echo "import $format: $status: $output"
        [ "$status" -eq 1 ]
        [[ "$output" == *"gridtide: "*"${1##*/}"* ]]
    done
    run timeout 60 "$GRIDTIDE" run "$1" -o out/run.db
    echo "run: $status: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"gridtide: "*"${1##*/}"* ]]
    [ -z "$(ls -A out)" ]
}

# trace LINE...: a trace of these lines.
trace()
{
    { echo '{"gridtide":1,"device":"toy"}'; printf '%s\n' "$@"; } > trace.jsonl
}

# simulated STATUS: the trace runs to that status; where it fails, nothing is left.
simulated()
{
    run timeout 60 "$GRIDTIDE" run -q trace.jsonl -o out/run.db
    echo "$status: $output"
    [ "$status" -eq "$1" ]
    [ "$1" -eq 0 ] || [[ "$output" == *"gridtide: "* ]]
    [ "$1" -eq 0 ] || [ -z "$(ls -A out)" ]
}

@test "a folder" {
    mkdir folder
    refused folder
}

@test "no file at all" {
    refused not-there
}

@test "a file that may not be read" {
    [ "$(id -u)" -ne 0 ] || skip "root may read everything"
    echo '{"gridtide":1}' > secret
    chmod 0 secret
    refused secret
}

@test "an empty file" {
    : > empty
    refused empty
}

@test "random bytes" {
    head -c 100000 /dev/urandom > random
    refused random
}

@test "five sparse gigabytes" {
    truncate -s 5G sparse
    refused sparse
}

@test "a million open brackets" {
    head -c 1000000 /dev/zero | tr '\0' '[' > brackets
    refused brackets
}

@test "a compressed file within a compressed file is not looked into for ever" {
    echo '{"gridtide":1}' | gzip | gzip > twice.gz
    refused twice.gz
}

@test "a database of something else" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    sqlite3 other.db 'create table t(a); insert into t values (1);'
    refused other.db
    for command in compare stats; do
        run "$GRIDTIDE" $command other.db
        echo "$output"
        [ "$status" -eq 1 ]
        [[ "$output" == *other.db* ]]
    done
}

@test "the greatest grid there is" {
    trace '{"kernel":"k","grid":[2147483647,65535,65535],"block":1,"block_us":1}' '{"call":"launch","kernel":"k"}'
    simulated 1
    [[ "$output" == *"--blocks off"* ]]
    run timeout 60 "$GRIDTIDE" run -q --blocks off trace.jsonl -o out/run.db
    echo "$status: $output"
    [ "$status" -le 1 ]
}

@test "a block of no threads, a grid of no blocks" {
    trace '{"kernel":"k","grid":1,"block":0,"block_us":1}' '{"call":"launch","kernel":"k"}'
    simulated 1
    [[ "$output" == *trace.jsonl:2:* ]]
    trace '{"kernel":"k","grid":[1,0],"block":1,"block_us":1}' '{"call":"launch","kernel":"k"}'
    simulated 1
    [[ "$output" == *trace.jsonl:2:* ]]
}

@test "times below zero and beyond all measure" {
    for time in -1 1e300 18446744073709551616; do
        trace '{"kernel":"k","grid":1,"block":1,"block_us":'$time'}' '{"call":"launch","kernel":"k"}'
        simulated 1
        [[ "$output" == *trace.jsonl:2:* ]]
    done
}

@test "a simulation that never ends says where it was" {
    trace '{"kernel":"k","grid":1,"block":1,"block_s":4000000}' '{"call":"launch","kernel":"k"}' \
          '{"call":"launch","kernel":"k"}'
    simulated 1
    [[ "$output" == *"trace.jsonl:4: "*"53 days"* ]]
    trace '{"call":"host_work","duration_s":4000000}' '{"call":"host_work","duration_s":4000000}'
    simulated 1
    [[ "$output" == *"trace.jsonl:3: "*"53 days"* ]]
}

@test "nodes that wait for each other are a deadlock" {
    trace '{"kernel":"k","grid":1,"block":1,"block_us":1}' \
          '{"call":"graph_launch","stream":"s","nodes":[{"kernel":"k","after":[1]},{"kernel":"k","after":[0]}]}' \
          '{"call":"event_record","stream":"s","event":"e"}' '{"call":"event_wait","stream":"t","event":"e"}'
    simulated 1
    [[ "$output" == *"trace.jsonl: deadlock: "*"stream 's'"*"stream 't'"*"event 'e' of stream 's'"* ]]
}

@test "a device that is not there, settings that are none" {
    for header in '{"gridtide":1,"device":"nope"}' '{"gridtide":1,"settings":{"chip.sms":"0"}}' \
                  '{"gridtide":1,"device":"toy","settings":{"no.key":"1"}}'; do
        echo "$header" > trace.jsonl
        simulated 1
        [[ "$output" == "gridtide: trace.jsonl: "*"trace"* ]]
    done
}

@test "a kernel that nobody defined" {
    trace '{"call":"launch","kernel":"nobody"}'
    simulated 1
    [[ "$output" == *trace.jsonl:2:*nobody* ]]
}

@test "a full disk" {
    [ -w /dev/full ] || skip "no /dev/full"
    trace '{"kernel":"k","grid":1,"block":1,"block_us":1}' '{"call":"launch","kernel":"k"}'
    run bash -c '"$GRIDTIDE" import -q gridtide trace.jsonl -o - > /dev/full'
    echo "$status: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"gridtide: "* ]]
}

@test "a grid of more blocks than can be run one by one" {
    trace '{"program":"p","warps":1,"warps_per_block":1,"sass":["EXIT"],"control":[2033],"executions":[1]}' \
        '{"kernel":"k","grid":[2147483647,65535,65535],"block":32,"program":"p"}' '{"call":"launch","kernel":"k"}'
    run "$GRIDTIDE" run -q trace.jsonl --detail full -o out/run.db
    echo "$status: $output"
    [ "$status" -eq 1 ]
    [[ "$output" == *"trace.jsonl:3: "*"leave --detail full away"* ]]
}

@test "launches by blocks are numbered by block and rule" {
    command -v sqlite3 > /dev/null || skip "sqlite3 is not installed"
    trace '{"kernel":"a","block_us":1}' \
          '{"kernel":"k","grid":2,"block":32,"block_us":1,"launches":[{"kernel":"a","count":3},{"kernel":"a","count":2,"blocks":"last"}]}' \
          '{"call":"launch","kernel":"k"}'
    "$GRIDTIDE" run -q trace.jsonl -o run.db
    [ "$(sqlite3 run.db "SELECT group_concat(block_no || '.' || rule_no || '.' || nth, ' ') FROM (SELECT * FROM child_launch ORDER BY op_no)")" = \
      "0.0.0 0.0.1 0.0.2 1.0.0 1.0.1 1.0.2 1.1.0 1.1.1" ]
}
