# gridtide export: Perfetto and CSV from a store.

setup() {
    store="$BATS_TEST_TMPDIR/run.db"
    "$GRIDTIDE" import "$GRIDTIDE_SOURCE/traces/samples/cuda-overlap-2.json.gz" -o "$BATS_TEST_TMPDIR/t.jsonl" > /dev/null
    "$GRIDTIDE" run "$BATS_TEST_TMPDIR/t.jsonl" -o "$store" > /dev/null
}

@test "export perfetto writes what the .proto says and nothing else" {
    command -v protoc > /dev/null || skip "no protoc"
    "$GRIDTIDE" export perfetto "$store" -o "$BATS_TEST_TMPDIR/out.pftrace"
    protoc --decode=perfetto.protos.Trace --proto_path="$GRIDTIDE_SOURCE/traces/export" perfetto.proto \
        < "$BATS_TEST_TMPDIR/out.pftrace" > "$BATS_TEST_TMPDIR/out.txt"
    run grep -cE '^ *[0-9]+[ :]' "$BATS_TEST_TMPDIR/out.txt" # a field without a name
    [ "$output" = 0 ]
    begins=$(grep -c 'type: TYPE_SLICE_BEGIN' "$BATS_TEST_TMPDIR/out.txt")
    [ "$begins" -gt 100 ]
    [ "$begins" -eq "$(grep -c 'type: TYPE_SLICE_END' "$BATS_TEST_TMPDIR/out.txt")" ]
    [ "$(grep -c ' flow_ids:' "$BATS_TEST_TMPDIR/out.txt")" -eq \
      "$(grep -c ' terminating_flow_ids:' "$BATS_TEST_TMPDIR/out.txt")" ]
    grep -q 'process_name: "measured: ' "$BATS_TEST_TMPDIR/out.txt"
    grep -q 'process_name: "simulated: ' "$BATS_TEST_TMPDIR/out.txt"
    for name in 'host threads' streams 'copy engines' SMs 'SM 0' 'resident blocks' 'resident warps' 'bandwidth h2d'; do
        grep -q "name: \"$name\"" "$BATS_TEST_TMPDIR/out.txt"
    done
}

@test "export perfetto gives the same bytes twice, and inside .gz" {
    "$GRIDTIDE" export perfetto "$store" -o "$BATS_TEST_TMPDIR/a.pftrace"
    "$GRIDTIDE" export perfetto "$store" -o "$BATS_TEST_TMPDIR/b.pftrace"
    "$GRIDTIDE" export perfetto "$store" -o "$BATS_TEST_TMPDIR/c.pftrace.gz"
    cmp "$BATS_TEST_TMPDIR/a.pftrace" "$BATS_TEST_TMPDIR/b.pftrace"
    gunzip "$BATS_TEST_TMPDIR/c.pftrace.gz"
    cmp "$BATS_TEST_TMPDIR/a.pftrace" "$BATS_TEST_TMPDIR/c.pftrace"
}

@test "export csv has a row for each operation of each run" {
    run "$GRIDTIDE" export csv "$store" -o -
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "run,run_kind,trace,op,kind,name,gpu,context,stream,stream_name,call,grid,block,direction,memory,bytes,submit_us,start_us,end_us,duration_us,wait_host_us,wait_stream_us,wait_event_us,wait_queue_us,wait_engine_us,wait_resource_us,correlation,range_kind,range,step,executable"$'\r' ]
    measured=$(grep -c '^[0-9]*,measured,' <<< "$output")
    simulated=$(grep -c '^[0-9]*,simulated,' <<< "$output")
    [ "$measured" -eq "$simulated" ]
    [ "$measured" -gt 10 ]
}

@test "export refuses wrong usage" {
    for arguments in "" "perfetto" "perfetto $store" "csv $store more -o $BATS_TEST_TMPDIR/x"; do
        run "$GRIDTIDE" export $arguments
        [ "$status" -eq 2 ]
    done
    run "$GRIDTIDE" export xml "$store" -o "$BATS_TEST_TMPDIR/x"
    [ "$status" -eq 2 ]
    [[ "$output" == *"formats are perfetto, csv"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/x" ]
}

@test "export says what is wrong and leaves nothing behind" {
    mkdir "$BATS_TEST_TMPDIR/out"
    printf 'not a store' > "$BATS_TEST_TMPDIR/text.db"
    head -c 20000 "$store" > "$BATS_TEST_TMPDIR/cut.db"
    : > "$BATS_TEST_TMPDIR/empty.db"
    for name in text.db cut.db empty.db none.db out; do
        for format in perfetto csv; do
            run "$GRIDTIDE" export $format "$BATS_TEST_TMPDIR/$name" -o "$BATS_TEST_TMPDIR/out/x"
            [ "$status" -eq 1 ]
            [[ "$output" == "gridtide: "*"$BATS_TEST_TMPDIR/$name"* ]]
        done
    done
    [ -z "$(ls "$BATS_TEST_TMPDIR/out")" ]
    if [ -w /dev/full ]; then
        run "$GRIDTIDE" export perfetto "$store" -o /dev/full
        [ "$status" -eq 1 ]
    fi
}

@test "export csv refuses times that no run can hold" {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program"
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/samples/overlap-4-streams.jsonl" -o "$BATS_TEST_TMPDIR/far.db"
    sqlite3 "$BATS_TEST_TMPDIR/far.db" "UPDATE run_op SET end_ps = 9223372036854775807 WHERE op_no = 0"
    run "$GRIDTIDE" export csv "$BATS_TEST_TMPDIR/far.db" -o "$BATS_TEST_TMPDIR/far.csv"
    [ "$status" -eq 1 ]
    [[ $output == *"the store is damaged"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/far.csv" ]
}
