# gridtide compare: one object of numbers, from the store alone.

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to look into JSON with"
    cd "$BATS_TEST_TMPDIR"
    cat > toy.jsonl <<'END'
{"gridtide":1,"name":"a \"toy\", no more","device":"h200","warnings":[{"kind":"graph-edges","count":3,"text":"edges of graphs were not recorded"}]}
{"kernel":"k","grid":[132],"block":[256],"duration_us":20}
{"call":"launch","kernel":"k","stream":"a","start_us":10,"duration_us":1,"op_start_us":15,"op_duration_us":2}
{"call":"launch","kernel":"k","stream":"a","start_us":12,"duration_us":1,"op_start_us":40,"op_duration_us":20}
{"call":"copy","direction":"d2h","bytes":4096,"stream":"a"}
{"call":"memset","bytes":4096,"stream":"a"}
END
    "$GRIDTIDE" run -q toy.jsonl -o run.db
}

# The value at a JSON path of what compare printed.
at() {
    sqlite3 :memory: "select json_extract(readfile('out.json'), '$1')"
}

@test "compare: JSON is one object of exactly these members" {
    "$GRIDTIDE" compare run.db --format json > out.json
    [ "$(sqlite3 :memory: "select json_valid(readfile('out.json'))")" = 1 ]
    [ "$(sqlite3 :memory: "select group_concat(key) from json_each(readfile('out.json'))")" = \
      trace,device,operations,makespan_us,start_error_us,start_error_pct_of_makespan,unmatched,warnings ]
    [ "$(at '$.operations')" = '{"kernel":2,"copy":1,"memset":1}' ]
    [ "$(at '$.makespan_us.measured')" = 45 ]
    [ "$(sqlite3 :memory: "select group_concat(json_type(value)) from json_each(readfile('out.json'),
        '$.start_error_us')" | sed 's/real/integer/g')" = integer,integer,integer ]
    [ "$(at '$.unmatched')" = 2 ]
    [ "$(at '$.trace')" = 'a "toy", no more' ]
    [ "$(at '$.device')" = 'NVIDIA H200' ]
    # Its replay is so far off on purpose that a warning of that is another.
    [ "$(at '$.warnings[0]')" = \
      '{"kind":"graph-edges","count":3,"text":"edges of graphs were not recorded"}' ]
    [ "$(at '$.warnings[1].kind')" = replay-departs ]
}

@test "compare: the numbers are those of the views" {
    "$GRIDTIDE" compare run.db --format json > out.json
    for pair in '$.makespan_us.error_pct makespan_error_pct' '$.start_error_us.max start_error_max_us' \
            '$.start_error_pct_of_makespan.p95 start_error_p95_pct'; do
        set -- $pair
        [ "$(sqlite3 run.db "select abs(value - json_extract(readfile('out.json'), '$1')) < 1e-6
            from comparison where metric = '$2'")" = 1 ]
    done
    [ "$(sqlite3 run.db "select abs(max(abs(start_error_us)) - json_extract(readfile('out.json'),
        '$.start_error_us.max')) < 1e-6 from op_error")" = 1 ]
}

@test "compare: null where nothing was measured" {
    sed 's/,"start_us.*/}/' toy.jsonl > typed.jsonl
    "$GRIDTIDE" run -q typed.jsonl
    "$GRIDTIDE" compare typed.db --format json > out.json
    [ "$(at '$.makespan_us.measured')" = "" ]
    [ "$(at '$.start_error_us')" = '{"median":null,"p95":null,"max":null}' ]
    [ "$(at '$.unmatched')" = 4 ]
}

@test "compare: CSV is a heading and a line" {
    run "$GRIDTIDE" compare run.db --format csv
    [ "${#lines[@]}" -eq 2 ]
    [[ "${lines[0]}" == trace,device,kernels,copies,memsets,unmatched,makespan_measured_us,* ]]
    [[ "${lines[1]}" == '"a ""toy"", no more",NVIDIA H200,2,1,1,2,45,'* ]]
}

@test "compare: a table for people, warnings below" {
    run "$GRIDTIDE" compare run.db
    [ "$status" -eq 0 ]
    grep -Eq '^makespan_measured_us +45\.000$' <<< "$output"
    grep -Eq '^graph-edges +3 edges of graphs' <<< "$output"
}

@test "compare: it changes nothing" {
    cp run.db before.db
    chmod a-w run.db
    "$GRIDTIDE" compare run.db > /dev/null
    cmp run.db before.db
}

@test "compare: what is no store is refused, by name" {
    mkdir folder
    : > empty.db
    sqlite3 other.db 'create table t (x)'
    sqlite3 newer.db 'pragma application_id = 1196708164; pragma user_version = 9999'
    sqlite3 hollow.db 'pragma application_id = 1196708164; pragma user_version = 2'
    head -c 10000 run.db > cut.db
    sqlite3 bare.db < "$GRIDTIDE_SOURCE/traces/store/schema.sql"
    for file in none.db folder empty.db other.db newer.db hollow.db cut.db toy.jsonl bare.db; do
        run "$GRIDTIDE" compare $file
        [ "$status" -eq 1 ] || { echo "$file: $status"; false; }
        [[ "$output" == "gridtide: $file: "* ]] || { echo "$output"; false; }
    done
}

@test "compare: wrong usage exits 2" {
    for arguments in "" "a b" "run.db --format xml"; do
        run "$GRIDTIDE" compare $arguments
        [ "$status" -eq 2 ]
    done
}

@test "compare: counts are those of the source" {
    trace="$GRIDTIDE_TRACES/h200/resnet50_b8.json.gz"
    [ -f "$trace" ] || skip "no $trace"
    "$GRIDTIDE" run -q "$trace" -o real.db
    "$GRIDTIDE" compare real.db --format json > out.json
    for pair in 'kernel kernel' 'copy gpu_memcpy' 'memset gpu_memset'; do
        set -- $pair
        [ "$(at "\$.operations.$1")" = "$(zcat "$trace" | grep -o "\"cat\": \"$2\"" | wc -l)" ]
    done
    [ "$(at '$.unmatched')" = 0 ]
}

# The second line's field of that name.
csv_column()
{
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print $at }'
}

# Four blocks make a tail launch each at one time, and block 0 two launches one after the other. Two measured runs in which the
# tail launches come in another order than the simulated one are chance; what block 0 launches is not.
@test "the order of launches that blocks make at one time is chance, that of one block's is not" {
    cat > kin.jsonl << 'END'
{"gridtide":1,"name":"kin","device":"h200"}
{"kernel":"leaf","grid":4,"block":64,"block_us":20}
{"kernel":"other","grid":4,"block":64,"block_us":20}
{"kernel":"parent","grid":4,"block":64,"block_us":30,"launches":[{"kernel":"leaf","at":0.2,"into":"tail"},{"kernel":"other","blocks":"first","count":2,"at":0.3}]}
{"call":"launch","stream":"s","kernel":"parent"}
END
    "$GRIDTIDE" run -q kin.jsonl -o kin.db > /dev/null
    [ "$(sqlite3 kin.db 'SELECT group_concat(parent_no || block_no || rule_no || nth) FROM child_launch')" = \
        "0000,0010,0011,0100,0200,0300" ]
    for rule in 0 1; do
        cp kin.db "rule-$rule.db"
        sqlite3 "rule-$rule.db" "
            INSERT INTO run (run_id, trace_id, device_id, kind, options, repetition, whole)
                SELECT 100 + n, trace_id, device_id, 'measured', options, n, 1
                FROM run, (SELECT 0 AS n UNION SELECT 1) WHERE run_id = 1;
            INSERT INTO run_op (run_id, op_no, start_ps, end_ps)
                SELECT r.run_id, p.op_no, m.start_ps, m.start_ps + 20000000 FROM run r JOIN run_op p ON p.run_id = 1
                LEFT JOIN child_launch c ON c.op_no = p.op_no
                JOIN run_op m ON m.run_id = 1 AND m.op_no = CASE WHEN c.rule_no = $rule AND p.op_no > 1 THEN
                    (SELECT max(op_no) + min(op_no) - p.op_no FROM child_launch WHERE rule_no = $rule AND op_no > 1)
                    ELSE p.op_no END
                WHERE r.run_id >= 100"
    done
    [ "$("$GRIDTIDE" compare rule-0.db --format csv | csv_column order_wrong)" = 0 ]
    [ "$("$GRIDTIDE" compare rule-1.db --format csv | csv_column order_wrong)" = 1 ]
}
