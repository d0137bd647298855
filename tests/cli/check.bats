#!/usr/bin/env bats
# gridtide check: races and how they are told.

bats_require_minimum_version 1.5.0

setup()
{
    cd "$BATS_TEST_TMPDIR" || exit 1
    cat > two.jsonl << 'TRACE'
{"gridtide":1,"device":"h200"}
{"stream":"a","flags":["non_blocking"]}
{"stream":"b","flags":["non_blocking"]}
{"kernel":"make","grid":132,"block":256,"block_us":40}
{"kernel":"use","grid":132,"block":256}
{"call":"launch","kernel":"make","stream":"a","writes":["t"]}
{"call":"event_record","event":"e","stream":"a"}
{"call":"launch","kernel":"use","stream":"b","reads":["t"]}
TRACE
    { head -n 7 two.jsonl; echo '{"call":"event_wait","event":"e","stream":"b"}'; tail -n 1 two.jsonl; } > safe.jsonl
}

@test "a race is told with its operations, what to add and a schedule; exit status 1" {
    run -1 --separate-stderr "$GRIDTIDE" check two.jsonl
    [[ $output == *"two: 1 race; accesses are known for 100.0% of 2 operations"* ]]
    [[ $output == *"race 1: read-after-write of t"* ]]
    [[ $output == *"first   make (line 6, stream a)"* ]]
    [[ $output == *"second  use (line 8, stream b)"* ]]
    [[ $output == *"before line 8: b.wait_stream(a)"* ]]
    [[ $output == *"shown   if the first is"* ]]
    [ "$stderr" = "" ]
}

@test "JSON has races, the share that is known, and a schedule in which the second does not wait" {
    run -1 --separate-stderr "$GRIDTIDE" check two.jsonl --format json
    python3 -c '
import json, sys
answer = json.loads(sys.argv[1])
race, = answer["races"]
assert answer["covered_pct"] == 100 and answer["verdict"] == "1 race"
assert race["first"] == "make (line 6, stream a)" and race["second"] == "use (line 8, stream b)"
assert race["buffer"] == "t" and race["kind"] == "read-after-write" and "b.wait_stream(a)" in race["fix"]
assert race["schedule"]["second_start_us"] < race["schedule"]["first_start_us"]' "$output"
}

@test "CSV has a row a race" {
    run -1 --separate-stderr "$GRIDTIDE" check two.jsonl --format csv
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == first,second,buffer,kind,* ]]
}

@test "with the wait that was told there are no races; exit status 0" {
    run -0 --separate-stderr "$GRIDTIDE" check safe.jsonl
    [ "$output" = "safe: no races; accesses are known for 100.0% of 2 operations" ]
}

@test "where operations do not say what they touch, the answer is never that there are no races" {
    sed 's/,"reads":\["t"\]//' safe.jsonl > half.jsonl
    run -0 --separate-stderr "$GRIDTIDE" check half.jsonl
    [[ $output == *"none found, but the accesses of 1 operations are unknown"*"50.0%"* ]]
    [[ $output != *"no races"* ]]
    run -0 --separate-stderr "$GRIDTIDE" check half.jsonl --format json
    [[ $output == *'"covered_pct": 50,'* ]]
}

@test "a trace that cannot be read is an error, a wrong option wrong usage" {
    run -1 --separate-stderr "$GRIDTIDE" check nothing.jsonl
    [[ $stderr == "gridtide: nothing.jsonl: "* ]]
    run -2 --separate-stderr "$GRIDTIDE" check
    run -2 --separate-stderr "$GRIDTIDE" check two.jsonl --bogus
}

@test "record_stream is kept when a trace is rewritten" {
    {
        head -n 5 two.jsonl
        echo '{"buffer":"x","bytes":64,"address":512}'
        echo '{"call":"record_stream","buffer":"x","stream":"b"}'
    } > recorded.jsonl
    "$GRIDTIDE" import recorded.jsonl -o again.jsonl -q
    grep -q '"call":"record_stream"' again.jsonl
    "$GRIDTIDE" run again.jsonl -q > /dev/null
    sed -i 's/"buffer":"x","stream":"b"/"stream":"b"/' recorded.jsonl
    run -1 "$GRIDTIDE" run recorded.jsonl
    [[ $output == *'needs a "buffer"'* ]]
}

@test "the samples: a race of each lesson, none of its repair" {
    samples=$GRIDTIDE_SOURCE/traces/samples
    run -1 --separate-stderr "$GRIDTIDE" check "$samples/race-gradient.jsonl"
    [[ $output == *": 1 race;"*"read-after-write of gradient"*"default.wait_stream(side)"*"shown"* ]]
    run -1 --separate-stderr "$GRIDTIDE" check "$samples/race-reuse.jsonl"
    [[ $output == *": 1 race;"*"write-after-read of next, whose memory was reused"*"batch.record_stream(side)"* ]]
    for repaired in "$samples"/race-*-repaired.jsonl; do
        run -0 --separate-stderr "$GRIDTIDE" check "$repaired"
        [[ $output == *": no races;"*"100.0%"* ]]
        run -0 "$GRIDTIDE" run -q "$repaired"
    done
}

@test "what operations were only given pointers to is a possible race, listed apart and not counted" {
    cat > may.jsonl << 'END'
{"gridtide":1,"device":"toy"}
{"stream":"a"}
{"stream":"b"}
{"kernel":"k","block_us":1}
{"call":"launch","kernel":"k","stream":"a","may_write":["pool"]}
{"call":"launch","kernel":"k","stream":"b","may_read":["pool"]}
END
    run -0 "$GRIDTIDE" check may.jsonl
    [[ "$output" == *"none found, but the accesses of 2 operations are unknown"* ]]
    [[ "$output" == *"1 possible race, not counted"*"read-after-write of pool: k (line 5, stream a), then k (line 6, stream b)"* ]]
    "$GRIDTIDE" check may.jsonl --format json | jq -e '.races == [] and (.possible | length) == 1 and .possible[0].fix != ""'
}

@test "memory used after it was freed, freed twice or freed in use is told, and fails" {
    { head -n 7 two.jsonl; echo '{"call":"free","buffer":"t","stream":"a","name":"cudaFreeAsync"}'; } > fine.jsonl
    run -0 "$GRIDTIDE" check fine.jsonl
    [[ "$output" == "fine: no races; accesses"* ]]
    { cat fine.jsonl; echo '{"call":"launch","kernel":"use","stream":"a","reads":["t"]}'; tail -n 1 fine.jsonl; } > wrong.jsonl
    run -1 "$GRIDTIDE" check wrong.jsonl
    [[ "$output" == "wrong: no races; 2 memory errors; accesses"* ]]
    [[ "$output" == *"use-after-free of t"*"first   free (line 8, stream a)"*"second  use (line 9, stream a)"* ]]
    [[ "$output" == *"double-free of t"*"second  free (line 10, stream a)"* ]]
    "$GRIDTIDE" check wrong.jsonl --format json > wrong.json || [ $? -eq 1 ]
    jq -e '.races == [] and [.misuses[].kind] == ["use-after-free", "double-free"] and all(.misuses[]; .certain)' wrong.json
    run -1 "$GRIDTIDE" check wrong.jsonl --format csv
    [[ "$output" == *"misuses,use-after-free,t,"* ]]
    sed 's/"free","buffer":"t","stream":"a"/"free","buffer":"t","stream":"b"/' fine.jsonl > early.jsonl
    run -1 "$GRIDTIDE" check early.jsonl
    [[ "$output" == *"free-in-use of t"*"first   make (line 6, stream a)"*"do      before the free at line 8: b.wait_stream(a), or free it in stream a"* ]]
    sed 's/,"name":"cudaFreeAsync"//' early.jsonl > may.jsonl
    run -0 "$GRIDTIDE" check may.jsonl
    [[ "$output" == *"1 stream-ordered free of a buffer that another stream may still use, not counted"* ]]
}

@test "launches of one executable graph have an order in whatever streams; of others, and in other processes, they have none" {
    cat > graphs.jsonl << 'END'
{"gridtide":1,"device":"toy"}
{"stream":"a"}
{"stream":"b"}
{"thread":"far","process":7}
{"kernel":"k","block_us":1}
{"call":"graph_launch","stream":"a","executable":5,"nodes":[{"kernel":"k","writes":["t"]},{"kernel":"k","writes":["u"]}]}
{"call":"graph_launch","stream":"b","executable":5,"nodes":[{"kernel":"k","reads":["t"]},{"kernel":"k","writes":["u"]}]}
END
    run -0 "$GRIDTIDE" check graphs.jsonl
    [[ "$output" == "graphs: no races;"* ]]
    sed '$s/"executable":5/"executable":6/' graphs.jsonl > others.jsonl
    run -1 "$GRIDTIDE" check others.jsonl
    [[ "$output" == "others: 2 races;"* ]]
    sed 's/,"executable":5//' graphs.jsonl > unnamed.jsonl
    run -1 "$GRIDTIDE" check unnamed.jsonl
    [[ "$output" == "unnamed: 2 races;"* ]]
    # it is kept when the trace is rewritten, stored and exported
    "$GRIDTIDE" import graphs.jsonl -o again.jsonl -q
    [ "$(grep -c '"executable":"5"' again.jsonl)" -eq 2 ]
    run -0 "$GRIDTIDE" check again.jsonl
    "$GRIDTIDE" run -q again.jsonl -o again.db
    [ "$(sqlite3 again.db 'SELECT group_concat(executable) FROM call_executable')" = 5,5 ]
    "$GRIDTIDE" export csv again.db -o again.csv
    [[ "$(head -n 1 again.csv)" == *,step,executable* ]]
    [ "$(grep -c $',5\r$' again.csv)" -eq 4 ]
    "$GRIDTIDE" export perfetto again.db -o again.pftrace
    grep -q executable again.pftrace
    # a store of before
    sqlite3 again.db 'DROP TABLE call_executable; PRAGMA user_version = 9'
    "$GRIDTIDE" export csv again.db -o old.csv
    "$GRIDTIDE" export perfetto again.db -o old.pftrace
    [ "$(grep -c $',5\r$' old.csv)" -eq 0 ]
}

@test "names are as traced for programs, and clean for people" {
    name=$(printf 'w\u202eb\033[1m')
    jq -c -n --arg name "$name" '{gridtide:1,device:"toy"}, {stream:$name}, {kernel:"k",block_us:1},
        {call:"launch",kernel:"k",stream:$name,writes:[$name]}, {call:"launch",kernel:"k",stream:"b",reads:[$name]},
        {call:"free",buffer:$name,stream:$name,name:"cudaFreeAsync"}' > name.jsonl
    run -1 "$GRIDTIDE" check name.jsonl --format csv
    [[ "$output" == *"k (line 4, stream $name)"*",$name,"*"stream b wait"*"b.wait_stream($name)"* ]]
    [[ "$output" == *"misuses,free-in-use,$name,"* ]]
    [[ "$output" != *'\u'* ]]
    "$GRIDTIDE" check name.jsonl --format json > name.json || [ $? -eq 1 ]
    jq -e --arg name "$name" '.races[0].buffer == $name and .misuses[0].buffer == $name' name.json
    run -1 "$GRIDTIDE" check name.jsonl
    [[ "$output" == *'of w\u202eb\u001b[1m'* ]]
    [[ "$output" != *"$name"* ]]
}
