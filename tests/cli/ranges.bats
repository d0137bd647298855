#!/usr/bin/env bats
# Ranges (operators, steps) from a trace into the store: its tables, its views.

setup() {
    export GRIDTIDE_DATA="$GRIDTIDE_SOURCE/sim"
    cd "$BATS_TEST_TMPDIR"
    # Two steps: a copy in and a kernel, the host waits; then two kernels on two streams, launched by two threads.
    cat > steps.jsonl <<'END'
{"gridtide":1,"name":"steps","device":"h200"}
{"kernel":"first","grid":132,"block":256}
{"kernel":"second","grid":132,"block":256}
{"stream":7,"flags":["non_blocking"]}
{"stream":8,"flags":["non_blocking"]}
{"range":"step 0","kind":"step","start_us":0,"duration_us":95}
{"range":"load","kind":"annotation","start_us":5,"duration_us":14,"external_id":1}
{"range":"aten::mm","start_us":20,"duration_us":15,"external_id":2}
{"range":"view","start_us":22,"duration_us":3}
{"range":"step 1","kind":"step","start_us":100,"duration_us":100}
{"range":"aten::mm","start_us":102,"duration_us":10}
{"range":"aten::add","thread":"other","start_us":104,"duration_us":10}
{"call":"copy","direction":"h2d","bytes":400000,"stream":7,"start_us":10,"duration_us":5,"op_start_us":20,"op_duration_us":8,"correlation":11,"external_id":1}
{"call":"launch","kernel":"first","stream":7,"start_us":30,"duration_us":4,"op_start_us":40,"op_duration_us":40,"correlation":12,"external_id":2}
{"call":"device_sync","start_us":40,"duration_us":45}
{"call":"launch","kernel":"first","stream":7,"start_us":105,"duration_us":4,"op_start_us":115,"op_duration_us":40,"correlation":13}
{"call":"launch","kernel":"second","stream":8,"thread":"other","start_us":106,"duration_us":4,"op_start_us":120,"op_duration_us":20,"correlation":14}
{"call":"device_sync","start_us":120,"duration_us":40}
END
    "$GRIDTIDE" run -q steps.jsonl -o run.db
}

sql() {
    sqlite3 "$1" "$2"
}

@test "ranges: the store has them, their calls and operations, and who made a call" {
    [ "$(sql run.db 'select kind, name, thread_no, parent_no, external_id, first_call, behind_call, first_op, behind_op
        from range order by range_no')" = "$(printf '%s\n' 'step|step 0|0||0|3|0|2' 'annotation|load|0|0|1|0|1|0|1' \
        'operator|aten::mm|0|0|2|1|2|1|2' 'operator|view|0|2||1|1|1|1' 'step|step 1|0|||3|6|2|4' \
        'operator|aten::mm|0|4||3|4|2|3' 'operator|aten::add|1|||4|5|3|4' | sed '1s/0||0|3/0|||0|3/')" ]
    [ "$(sql run.db 'select call_no, range_no, correlation, external_id from call_range')" = \
      "$(printf '%s\n' '0|1|11|1' '1|2|12|2' '2|0||' '3|5|13|' '4|6|14|' '5|4||')" ]
}

@test "ranges: a measured run has them as recorded" {
    [ "$(sql run.db 'select range_no, start_ps / 1000000, end_ps / 1000000 from run_range where run_id = 1')" = \
      "$(printf '%s\n' '0|0|95' '1|5|19' '2|20|35' '3|22|25' '4|100|200' '5|102|112' '6|104|114')" ]
}

# Few SMs: the first kernel takes longer, and so does the wait for it. What lies between two calls of a thread lies
# as far from both as it did: the step ends 10 us behind the wait, the next begins 5 us later.
@test "ranges: in a simulated run they go with their thread's calls" {
    "$GRIDTIDE" run -q steps.jsonl -o half.db --set chip.sms=8
    [ "$(sql half.db 'select c.end_ps, t.end_ps - c.end_ps, n.start_ps - t.end_ps,
        v.start_ps, v.end_ps, l.start_ps
        from run r join run_call c on c.run_id = r.run_id and c.call_no = 2
        join run_range t on t.run_id = r.run_id and t.range_no = 0
        join run_range n on n.run_id = r.run_id and n.range_no = 4
        join run_range v on v.run_id = r.run_id and v.range_no = 3
        join run_range l on l.run_id = r.run_id and l.range_no = 1
        where r.options like "%set=chip.sms=8%"')" = "288080024|10000000|5000000|22000000|25000000|5000000" ]
}

@test "view step: the host's time of a step, and what the GPU did for it" {
    [ "$(sql run.db 'select name, start_us, end_us, duration_us, operations, gpu_start_us, gpu_end_us, gpu_us
        from step where run_id = 1')" = \
      "$(printf '%s\n' 'step 0|0.0|95.0|95.0|2|20.0|80.0|48.0' 'step 1|100.0|200.0|100.0|2|115.0|155.0|60.0')" ]
}

@test "view launch: the call of each operation, on whose behalf, how long before" {
    [ "$(sql run.db 'select op_no, name, call, correlation, range_kind, range, call_start_us, start_us, latency_us
        from launch where run_id = 1')" = \
      "$(printf '%s\n' '0|copy h2d pinned|copy|11|annotation|load|10.0|20.0|10.0' \
        '1|first|launch|12|operator|aten::mm|30.0|40.0|10.0' '2|first|launch|13|operator|aten::mm|105.0|115.0|10.0' \
        '3|second|launch|14|operator|aten::add|106.0|120.0|14.0')" ]
}

@test "view gap: when nothing ran, of the GPU and of each engine" {
    [ "$(sql run.db 'select engine, start_us, end_us, before_op, after_op from gap where run_id = 1
        order by engine, start_us')" = \
      "$(printf '%s\n' 'any|28.0|40.0|0|1' 'any|80.0|115.0|1|2' 'kernels|80.0|115.0|1|2')" ]
    # the host asked late, and that it is said of the simulated run alone
    [ "$(sql run.db 'select distinct run_kind, cause from gap where before_op = 1')" = \
      "$(printf '%s\n' 'measured|' 'simulated|host')" ]
}

@test "view overlap: pairs that ran together, how long" {
    [ "$(sql run.db 'select first_op, second_op, first, second, start_us, end_us, duration_us from overlap
        where run_id = 1')" = '2|3|first|second|120.0|140.0|20.0' ]
}

@test "view occupancy: warps over time" {
    # 132 blocks of 8 warps for 40 us, and so twice, and as many for 20 us: 1,056 x 100 warps x us, as simulated
    [ "$(sql run.db 'select round(sum(warps * (end_us - start_us)) / 1056 / sum(p.end_ps - p.start_ps) * 1e6 * count(distinct p.op_no), 2)
        from occupancy o join run_op p on p.run_id = o.run_id and p.op_no > 0 where o.run_id = 2')" = "1.0" ] || \
      sql run.db 'select * from occupancy' >&2
}

# Host time of its own: aten::mm 15 - 3 (view within) + 10; GPU time: 40 + 40 by aten::mm, 8 by the copy of load.
@test "stats: by step and by operator" {
    "$GRIDTIDE" stats run.db --run measured --format csv | tr -d '\r' > stats.csv
    grep -qx 'steps,step 0,0,95,,2,48,48,20,80' stats.csv || { grep ^steps stats.csv; false; }
    grep -qx 'steps,step 1,100,100,,2,60,40,115,155' stats.csv
    [ "$(grep -c '^steps,' stats.csv)" = 2 ]
    grep -qx 'operators,operator,aten::mm,aten::mm,2,25,22,2,80,80' stats.csv || { grep ^operators stats.csv; false; }
    grep -qx 'operators,annotation,load,load,1,14,14,1,8,8' stats.csv
    grep -qx 'operators,operator,view,view,1,3,3,0,0,0' stats.csv
    # the simulated run knows how long the host was blocked: all of its first wait but 5 us
    "$GRIDTIDE" stats run.db --format csv | grep -q '^steps,step 0,0,95,40,2,'
    run "$GRIDTIDE" stats run.db
    grep -q '^steps$' <<< "$output"
    grep -q '^operators$' <<< "$output"
}

# GPU time goes to all around the range that asked for it, the host's time in itself to the innermost; what calls
# itself counts once.
@test "stats: an operator's total holds what is within, itself within itself once" {
    cat > nested.jsonl <<'END'
{"gridtide":1,"name":"nested","device":"h200"}
{"kernel":"k","grid":132,"block":256}
{"range":"outer","start_us":0,"duration_us":50}
{"range":"again","start_us":5,"duration_us":40}
{"range":"again","start_us":10,"duration_us":20}
{"call":"launch","kernel":"k","start_us":2,"duration_us":1,"op_start_us":20,"op_duration_us":10}
{"call":"launch","kernel":"k","start_us":12,"duration_us":1,"op_start_us":35,"op_duration_us":10}
END
    "$GRIDTIDE" run -q nested.jsonl -o nested.db
    "$GRIDTIDE" stats nested.db --run measured --format csv | tr -d '\r' > nested.csv
    grep -q '^operators,operator,again,again,2,40,40,1,10,10$' nested.csv || { grep ^operators nested.csv; false; }
    grep -q '^operators,operator,outer,outer,1,50,10,2,20,10$' nested.csv || { grep ^operators nested.csv; false; }
}

# What a filter leaves of the measured run: the numbers of its operations.
left() {
    "$GRIDTIDE" export csv run.db -o - "$@" | tr -d '\r' | awk -F, '$2 == "measured" { printf "%s ", $4 }'
}

@test "filters: by time, stream, kernel and step, together" {
    [ "$(left)" = "0 1 2 3 " ]
    [ "$(left --from 40)" = "1 2 3 " ]           # at 40 on
    [ "$(left --from 40.000001 --to 120)" = "2 " ] # and before 120
    [ "$(left --stream 7)" = "0 1 2 " ]
    [ "$(left --kernel first)" = "1 2 " ]
    [ "$(left --kernel ir)" = "1 2 " ]           # a part of the name
    [ "$(left --step 'step 1')" = "2 3 " ]
    [ "$(left --step 0 --kernel first)" = "1 " ] # the first
    sed 's/"step 0"/"ProfilerStep#7"/' steps.jsonl > named.jsonl
    "$GRIDTIDE" run -q named.jsonl -o run.db
    [ "$(left --step 7)" = "0 1 " ]              # by the number in its name
    [ "$(left --step 1)" = "2 3 " ]              # by its place
}

@test "filters: what is not there is told, with what is" {
    for option in "--stream 9:7, 8" "--kernel third:first, second" "--step nine:step 0, step 1"; do
        run "$GRIDTIDE" stats run.db ${option%%:*}
        [ "$status" -eq 1 ]
        [[ "$output" == *"it has ${option##*:}"* ]] || { echo "$output"; false; }
    done
    for option in "--from x" "--from -1" "--from 5 --to 5" "--to 1 --from 2"; do
        run "$GRIDTIDE" stats run.db $option
        [ "$status" -eq 2 ]
    done
}

@test "filters: stats of a step are of its operations, calls and time alone" {
    "$GRIDTIDE" stats run.db --step 1 --format csv | tr -d '\r' > step.csv
    grep -q '^summary,2,simulated,steps,NVIDIA H200,blocks=on seed=1,2,2,0,0,0,40,40,100,0,' step.csv
    [ "$(grep -c '^steps,' step.csv)" = 1 ]
    [ "$(grep -c '^operators,' step.csv)" = 2 ]
    grep -q '^notes,critical_path,' step.csv
    # of one stream: its kernel alone; SMs are known of all together
    "$GRIDTIDE" stats run.db --stream 8 --format csv | tr -d '\r' > stream.csv
    grep -q '^kernels,second,second,1,20,' stream.csv
    [ "$(grep -c '^kernels,' stream.csv)" = 1 ]
    [ "$(grep -c '^streams,' stream.csv)" = 1 ]
    grep -q '^notes,sms,' stream.csv
}

# What explain says of a part, as JSON.
explained() {
    run bash -c '"$0" explain run.db --format json "$@" 2> /dev/null' "$GRIDTIDE" "$@"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

# Step 0 is on the path from its begin to the wait's end at 85, step 1 from the first launch behind it.
@test "filters: explain of a step, a stream, kernels, a time" {
    command -v jq > /dev/null || skip "no jq"
    explained
    whole=$(jq '.limit.path_us' <<< "$output")
    jq -e '.gaps | length == 2' <<< "$output"
    explained --step 1
    jq -e '.limit.makespan_us == 40 and .gaps == [.gaps[0]] and .gaps[0].from_us == 80 and
        [.steps[].step] == ["step 1"] and ([.critical_path[].path_us] | add) == .limit.path_us' <<< "$output"
    one=$(jq '.limit.path_us' <<< "$output")
    explained --step 0
    jq -e '[.steps[].step] == ["step 0"] and (.gaps | length == 1) and .gaps[0].after == "first in stream 7" and
        [.blocked_calls[].times] == [1]' <<< "$output"
    # the steps' parts of the path are the whole path but for the host's 15 us between them
    jq -e --argjson one "$one" --argjson whole "$whole" '.limit.path_us + $one + 15 - $whole | fabs < 0.01' <<< "$output"
    explained --stream 8
    jq -e '.limit.makespan_us == 20 and .gaps == []' <<< "$output"
    explained --kernel first --from 100
    jq -e '.limit.makespan_us == 40 and (.gaps | length == 1) and .gaps[0].from_us == 80 and .copies == []' <<< "$output"
    explained --from 28 --to 80
    jq -e '.limit.path_us == 52 and (.gaps | length == 1) and .copies == []' <<< "$output"
    run "$GRIDTIDE" explain run.db --from 500
    [ "$status" -eq 1 ]
    [[ "$output" == *"nothing ran on the GPU in this part"* ]]
}

@test "filters: explain takes a launch of the part asked for" {
    "$GRIDTIDE" run -q "$GRIDTIDE_SOURCE/traces/profiles/library.jsonl.zst" -o kernels.db 2> /dev/null ||
        skip "no zstd program"
    all=$("$GRIDTIDE" explain kernels.db --kernel transpose --format csv 2> /dev/null | sed -n 2p)
    one=$("$GRIDTIDE" explain kernels.db transpose --from 100000000 --format csv 2>&1) && false
    [ -n "$all" ]
    [[ "$one" == *"no launch or kernel 'transpose'"* ]] || [[ "$one" == *"no kernel with cycles"* ]]
}

decode() {
    command -v protoc > /dev/null || skip "no protoc"
    protoc --decode=perfetto.protos.Trace --proto_path="$GRIDTIDE_SOURCE/traces/export" perfetto.proto < "$1"
}

@test "perfetto: ranges lie around calls on their thread's track, causes are arrows" {
    "$GRIDTIDE" export perfetto run.db -o run.pftrace
    decode run.pftrace > run.txt
    for name in 'step 0' load aten::mm view launch; do
        grep -q "name: \"$name\"" run.txt
    done
    # one track a thread and run: what nests needs none beside it
    [ "$(grep -c 'name: "thread 0 main"' run.txt)" = 2 ]
    [ "$(grep -c 'name: "thread 1 other"' run.txt)" = 2 ]
    # in the simulated run (the second) operation 1 lets call 2 return
    arrow=$((2 << 52 | 2 << 40 | 2 + 1))
    [ "$(grep -c " flow_ids: $arrow" run.txt)" = 1 ]
    [ "$(grep -c "terminating_flow_ids: $arrow" run.txt)" = 1 ]
    [ "$(grep -c ' flow_ids:' run.txt)" -eq "$(grep -c 'terminating_flow_ids:' run.txt)" ]
    # a part: no arrow leads out of it
    "$GRIDTIDE" export perfetto run.db -o part.pftrace --from 40 --to 110
    decode part.pftrace > part.txt
    [ "$(grep -c 'type: TYPE_SLICE_BEGIN' part.txt)" -lt "$(grep -c 'type: TYPE_SLICE_BEGIN' run.txt)" ]
    [ "$(grep -c ' flow_ids:' part.txt)" -eq "$(grep -c 'terminating_flow_ids:' part.txt)" ] ||
        { grep 'flow_ids:' part.txt; false; }
}

@test "perfetto: behind 200,000 blocks an SM's warps are shown by interval" {
    cat > many.jsonl <<'END'
{"gridtide":1,"name":"many","device":"h200"}
{"kernel":"k","grid":300000,"block":1024,"block_us":1}
{"call":"launch","kernel":"k"}
END
    "$GRIDTIDE" run -q many.jsonl -o many.db
    "$GRIDTIDE" export perfetto many.db -o many.pftrace
    decode many.pftrace > many.txt
    grep -q 'name: "SMs (the first 200000 of 300000 blocks, then warps)"' many.txt
    [ "$(grep -c 'name: "SM [0-9]* warps"' many.txt)" = 132 ]
}

@test "report: of a step, with what limits it" {
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
    "$GRIDTIDE" report -q run.db --step 'step 1' -o out
    grep -q 'only step step 1' out/index.html
    grep -q 'of the critical path in this part' out/index.html
    grep -q '<p class="quiet">1 step of ' out/index.html
}

@test "export: ranges as CSV, a row for each of each run" {
    "$GRIDTIDE" export csv-ranges run.db -o - | tr -d '\r' > ranges.csv
    [ "$(wc -l < ranges.csv)" = 15 ]
    grep -qx '1,measured,steps,2,operator,aten::mm,0,0,main,2,1,2,1,2,20.000000,35.000000,15.000000' ranges.csv ||
        { cat ranges.csv; false; }
    "$GRIDTIDE" export csv-ranges run.db --step 1 -o - | tr -d '\r' | awk -F, '$2 == "measured" { print $6 }' > part
    [ "$(paste -sd, part)" = 'step 1,aten::mm,aten::add' ]
}

@test "ranges: a store of version 3 can be read, without" {
    sql run.db 'drop view step; drop view launch; drop view gap; drop view overlap; drop view occupancy;
        drop table range; drop table call_range; drop table run_range; drop index run_op_by_start;
        pragma user_version = 3'
    "$GRIDTIDE" stats run.db > /dev/null
    "$GRIDTIDE" compare run.db > /dev/null
    "$GRIDTIDE" export csv run.db -o run.csv
    "$GRIDTIDE" export perfetto run.db -o run.pftrace
    run "$GRIDTIDE" stats run.db --step 0
    [ "$status" -eq 1 ]
    [[ "$output" == *"the run has no steps"* ]]
}

@test "ranges: a damaged store is told or its ranges passed over, and no command falls" {
    cp run.db whole.db
    for change in "range set parent_no = range_no where range_no = 2" "range set parent_no = 99 where range_no = 2" \
        "call_range set range_no = 77" "call_range set range_no = -1" "run_range set end_ps = -5" \
        "run_range set start_ps = 'x'" "range set first_op = -3, behind_op = 99999999999" \
        "range set name = x'00ff', kind = 5" "range set range_no = range_no + 100 where range_no > 3" \
        "run_op set cause_op = 4000000" "run_op set cause_op = -1" "range set thread_no = 88" \
        "run_range set start_ps = 4611686018427387000, end_ps = 4611686018427387001"; do
        cp whole.db run.db
        sql run.db "update $change"
        for command in "stats run.db" "stats run.db --step 1" "export csv run.db -o x.csv" \
            "export perfetto run.db -o x.pftrace" "export perfetto run.db -o x.pftrace --step 0" "explain run.db"; do
            run timeout 20 "$GRIDTIDE" $command
            echo "$change: $command: $status: $output"
            [ "$status" -le 1 ]
        done
    done
}
