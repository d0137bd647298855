# Kernels from their instructions: run, compare and explain on a program that is small enough to type.

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to look into stores and JSON with"
    cd "$BATS_TEST_TMPDIR"
    # One block of 8 warps an SM; each warp makes 100 trips of 4 instructions and moves a word:
    # 1 + 400 + 3 instructions. Its control fields: a stall count and the barriers that it sets and waits for.
    cat > loop.jsonl <<'END'
{"gridtide":1,"name":"loop","device":"h200"}
{"program":"p","compute_capability":90,"warps":1056,"warps_per_block":8,"registers":16,"l1_load_hit":0,"l2_read_hit":1,"l2_read_sectors":4224,"l2_write_sectors":4224,"sass":["MOV R0, RZ","FFMA R1, R1, R2, R1","IADD3 R0, R0, 0x1, RZ","ISETP.NE.AND P0, PT, R0, 0x64, PT","@P0 BRA 0x10","LDG.E R4, desc[UR4][R2.64]","STG.E desc[UR4][R2.64], R4","EXIT"],"control":[2036,2036,2036,2045,2037,1809,4081,2037],"executions":[1056,105600,105600,105600,105600,1056,1056,1056],"access":[[5,"global",4,4,1],[6,"global",4,4,1]],"samples":[[1,"selected",100],[1,"wait",300],[6,"long_scoreboard",40],[7,"drain",10]]}
{"kernel":"loop_kernel","grid":132,"block":256,"registers":16,"program":"p"}
{"kernel":"bar_kernel","grid":1,"block":32,"duration_us":3}
{"call":"launch","kernel":"loop_kernel","op_duration_us":2,"profile":{"cycles":4000,"sm_hz":2e9,"warp_instructions":426624,"l1_load_hit":0,"l2_read_hit":1,"dram_read_bytes":135168}}
{"call":"launch","kernel":"bar_kernel"}
{"call":"launch","kernel":"loop_kernel","op_duration_us":40,"profile":{"cycles":80000,"sm_hz":2e9,"warp_instructions":426624,"l1_load_hit":0,"l2_read_hit":1,"dram_read_bytes":135168}}
END
    "$GRIDTIDE" run -q loop.jsonl -o run.db
}

# The value at a JSON path of what was printed.
at() {
    sqlite3 :memory: "select json_extract(readfile('out.json'), '$1')"
}

@test "kernels: run lists the cycles of every launch with a program, and their errors" {
    run "$GRIDTIDE" run loop.jsonl -o again.db
    [ "$status" -eq 0 ]
    grep -Eq '^launches +2$' <<< "$output"
    grep -Eq '^ +0 +4000 .* loop_kernel$' <<< "$output"
    grep -Eq '^ +2 +80000 .* loop_kernel$' <<< "$output"
    ! grep -q 'bar_kernel$' <<< "$output"
}

@test "kernels: equal launches are run once and have the same cycles" {
    [ "$(sqlite3 run.db "select group_concat(like_op) from run_kernel where run_id = 2")" = 0,0 ]
    [ "$(sqlite3 run.db "select count(distinct cycles), min(cycles) > 1700 and max(cycles) < 40000
        from run_kernel where run_id = 2")" = '1|1' ]
    # 1056 warps of 404 instructions; the model runs one SM of the 132.
    [ "$(sqlite3 run.db "select covered, warp_instructions from run_kernel where run_id = 2 and op_no = 0")" = \
      '426624|3232' ]
    [ "$(sqlite3 run.db "select group_concat(op_no || ':' || cycles || ':' || duration_ps) from run_kernel
        where run_id = 1")" = 0:4000.0:2000000,2:80000.0:40000000 ]
    [ "$(sqlite3 run.db "select sum(amount) from run_stall where run_id = 1")" = 450.0 ]
    [ "$(sqlite3 run.db "select count(*), sum(executions) from instruction")" = '8|426624' ]
    [ -z "$(sqlite3 run.db 'pragma foreign_key_check')" ]
}

@test "kernels: launches that executed different numbers of instructions are not equal" {
    sed '$s/"warp_instructions":426624/"warp_instructions":4266240/' loop.jsonl > unlike.jsonl
    "$GRIDTIDE" run -q unlike.jsonl -o unlike.db
    [ "$(sqlite3 unlike.db "select group_concat(like_op) from run_kernel where run_id = 2")" = 0,2 ]
}

@test "kernels: the same run gives the same rows, but for how long the model took" {
    "$GRIDTIDE" run -q loop.jsonl -o again.db
    for file in run again; do
        sqlite3 $file.db "delete from counter where name = 'model_us'" .dump > $file.sql
    done
    cmp run.sql again.sql
}

@test "kernels: compare has them in JSON, with MAPE, Pearson's r and the model's speed" {
    "$GRIDTIDE" compare run.db --format json > out.json
    [ "$(sqlite3 :memory: "select group_concat(key) from json_each(readfile('out.json'), '$.kernels[1]')")" = \
      name,short_name,launch,measured_cycles,simulated_cycles,error_pct ]
    [ "$(at '$.kernels[1].name')" = loop_kernel ]
    [ "$(at '$.kernels[1].launch')" = 2 ]
    [ "$(at '$.kernels[1].measured_cycles')" = 80000 ]
    for member in launches compared; do
        [ "$(at "\$.$member")" = 2 ]
    done
    # Both simulated cycles are the same: no correlation can be told.
    [ "$(sqlite3 :memory: "select json_type(readfile('out.json'), '$.pearson')")" = null ]
    [ "$(at '$.warp_instructions')" = 3232 ]
    [ "$(at '$.covered')" = 853248 ]
    [ "$(sqlite3 :memory: "select json_extract(j, '$.warp_instructions_per_s') > 0
        and abs(json_extract(j, '$.covered_per_s') / json_extract(j, '$.warp_instructions_per_s') - 264) < 1e-6
        from (select readfile('out.json') as j)")" = 1 ]
    [ "$(sqlite3 run.db "select abs(json_extract(j, '$.mape_pct') - avg(abs(error_pct))) < 1e-6
        and abs(json_extract(j, '$.error_worst_pct') - max(abs(error_pct))) < 1e-6
        and abs(json_extract(j, '$.mape_below_5us_pct') - max(abs(error_pct)) filter (where launch = 0)) < 1e-6
        and abs(json_extract(j, '$.mape_from_5us_pct') - max(abs(error_pct)) filter (where launch = 2)) < 1e-6
        and json_extract(j, '$.launches_below_5us') = 1
        from kernel_cycles, (select readfile('out.json') as j)")" = 1 ]
}

@test "kernels: compare as CSV names its tables" {
    run "$GRIDTIDE" compare run.db --format csv
    [ "$status" -eq 0 ]
    grep -q '^table,launch,measured_cycles,simulated_cycles,' <<< "$output"
    grep -Eq '^kernels,0,4000,[0-9.]+,' <<< "$output"
}

@test "kernels: what was measured is played, unless the program is asked for" {
    [ "$(sqlite3 run.db "select group_concat(end_ps - start_ps) from run_op where run_id = 2")" = \
      2000000,3000000,40000000 ]
    "$GRIDTIDE" run -q --cost program loop.jsonl -o program.db
    [ "$(sqlite3 program.db "select group_concat(abs(p.end_ps - p.start_ps - k.run_cycles * 1e6 / 1980) < 2) from run_op p
        join run_kernel k using (run_id, op_no) where run_id = 3")" = 1,1 ]
    [ "$(sqlite3 program.db "select options like '%cost=program%' from run where run_id = 3")" = 1 ]
    run "$GRIDTIDE" run --cost guess loop.jsonl
    [ "$status" -eq 2 ]
    [[ "$output" == *"--cost requires measured or program, not 'guess'"* ]]
}

@test "kernels: a launch of which nothing was measured lasts as long as its program's blocks" {
    sed 's/,"op_duration_us":2,"profile":.*/}/' loop.jsonl > typed.jsonl
    "$GRIDTIDE" run -q typed.jsonl -o typed.db
    [ "$(sqlite3 typed.db "select abs(p.end_ps - p.start_ps - k.run_cycles * 1e6 / 1980) < 2 from run_op p
        join run_kernel k using (run_id, op_no) where run_id = 2 and op_no = 0")" = 1 ]
    # Its blocks are on all SMs.
    [ "$(sqlite3 typed.db "select count(distinct sm) from run_block where run_id = 2 and op_no = 0")" = 132 ]
}

@test "kernels: every block, if asked for" {
    # 1000 rows of blocks, 8 of which are resident at a time.
    sed 's/1056/1056000/g; s/"grid":132/"grid":132000/' loop.jsonl > long.jsonl
    "$GRIDTIDE" run -q long.jsonl -o sampled.db
    "$GRIDTIDE" run -q --detail full long.jsonl -o full.db
    [ "$(sqlite3 full.db "select options from run where run_id = 2")" = "blocks=on seed=1 detail=full" ]
    [ "$(sqlite3 full.db "attach 'sampled.db' as sampled; select f.warp_instructions, s.warp_instructions < 3e6,
        f.covered = s.covered, abs(f.cycles - s.cycles) < 0.02 * f.cycles from main.run_kernel f
        join sampled.run_kernel s using (run_id, op_no) where run_id = 2 and op_no = 0")" = '3232000|1|1|1' ]
    run "$GRIDTIDE" run --detail some loop.jsonl
    [ "$status" -eq 2 ]
}

@test "kernels: a policy that is not there is told with those that are" {
    run "$GRIDTIDE" run -q --set warp.policy=newest loop.jsonl -o none.db
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: warp.policy: no policy 'newest'; there are: greedy-oldest "* ]]
    [ ! -e none.db ]
}

@test "kernels: another device gives other cycles" {
    "$GRIDTIDE" run -q --set chip.sms=66 --cost program loop.jsonl -o half.db
    [ "$(sqlite3 half.db "attach 'run.db' as whole; select h.cycles > w.cycles from main.run_kernel h
        join whole.run_kernel w using (op_no) where h.run_id = 3 and w.run_id = 2 and op_no = 0")" = 1 ]
}

@test "explain: by number or by part of a name, in sections" {
    run "$GRIDTIDE" explain run.db 2
    [ "$status" -eq 0 ]
    for section in launch pipes stalls instructions advice; do
        grep -qx "$section" <<< "$output"
    done
    grep -Eq '^measured_cycles +80000$' <<< "$output"
    grep -Eq '^fma +24.8 +24.8 ' <<< "$output"
    grep -Eq '^0x0010 +wait +[0-9.]+ +66.7 +105600 FFMA R1, R1, R2, R1$' <<< "$output"
    run "$GRIDTIDE" explain run.db loop
    [ "$status" -eq 0 ]
    [[ "$output" == *"2 launches match 'loop': showing launch 0"* ]]
}

@test "explain: shares in JSON add up" {
    "$GRIDTIDE" explain run.db 0 --top 3 --format json > out.json
    [ "$(sqlite3 :memory: "select abs(total(json_extract(value, '$.profiled_pct')) - 100) < 1e-6
        and abs(total(json_extract(value, '$.simulated_pct')) - 100) < 1e-6
        from json_each(readfile('out.json'), '$.stalls')")" = 1 ]
    [ "$(sqlite3 :memory: "select json_array_length(readfile('out.json'), '$.instructions')")" = 3 ]
    [ "$(at '$.launch.warps_per_sm_most')" = 64 ]
    [ "$(sqlite3 :memory: "select count(*) > 0 and sum(length(json_extract(value, '$.advice')) > 20
        and json_extract(value, '$.pct') > 0) = count(*) from json_each(readfile('out.json'), '$.advice')")" = 1 ]
}

@test "explain: what is not there is refused with what is" {
    run "$GRIDTIDE" explain run.db bar_kernel
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: run.db: no launch or kernel 'bar_kernel' has cycles; these have: 0 loop_kernel,"* ]]
    grep -e gridtide -e bar_kernel loop.jsonl > bars.jsonl
    "$GRIDTIDE" run -q bars.jsonl -o bars.db
    run "$GRIDTIDE" explain bars.db 0
    [ "$status" -eq 1 ]
    [[ "$output" == "gridtide: bars.db: contains no kernel with cycles"* ]]
    for arguments in "" "run.db 0 1" "run.db 0 --top 0" "run.db 0 --format xml"; do
        run "$GRIDTIDE" explain $arguments
        [ "$status" -eq 2 ]
    done
}

@test "kernels: a store of version 2 can be read, without cycles" {
    sqlite3 run.db 'drop view kernel_cycles; drop view kernel_launch; drop table instruction;
        drop table run_kernel; drop table run_issue; drop table run_stall; pragma user_version = 2'
    run "$GRIDTIDE" compare run.db
    [ "$status" -eq 0 ]
    [[ "$output" != *mape_pct* ]]
    run "$GRIDTIDE" explain run.db 0
    [ "$status" -eq 1 ]
    [[ "$output" == *"contains no kernel with cycles"* ]]
}

@test "report: figures of kernels in cycles, where there are any" {
    command -v gnuplot > /dev/null || skip "gnuplot is not installed"
    "$GRIDTIDE" report -q run.db -o out
    for figure in cycles roofline stalls; do
        [ "$(head -c 5 "out/$figure.svg")" = "<?xml" ]
        grep -q "src=\"$figure.svg\"" out/index.html
    done
    grep -q 'cycles of 2 kernel launches' out/index.html
    grep -q '0 loop_kernel' out/stalls.svg
    # The table behind them, most cycles first.
    sed -n '/id="kernel-cycles"/,/<\/section>/p' out/index.html | sed 's/<[^>]*>/ /g' > table.txt
    [ "$(grep -Eo 'loop_kernel +[0-9]+ +[0-9,]+ ' table.txt | tr -s ' ')" = \
      "$(printf 'loop_kernel 2 80,000 \nloop_kernel 0 4,000 ')" ]
    [ "$(grep -Ec '% +(waits: )?[a-zA-Z2/ ]+ [0-9]+% *$' table.txt)" = 2 ]
    grep -e gridtide -e bar_kernel loop.jsonl > bars.jsonl
    "$GRIDTIDE" run -q bars.jsonl -o bars.db
    "$GRIDTIDE" report -q bars.db -o bars
    [ ! -e bars/cycles.svg ]
    [ ! -e bars/stalls.svg ]
    ! grep -q 'id="kernel-cycles"' bars/index.html
}

@test "kernels: a program whose loops never end is given up, and the other launches go on" {
    cat > endless.jsonl <<'END'
{"gridtide":1,"device":"h200"}
{"program":"endless","warps":132,"warps_per_block":1,"sass":["BRA 0x0","EXIT"],"control":[2033,2033],"executions":[1320,0]}
{"program":"short","warps":132,"warps_per_block":1,"sass":["EXIT"],"control":[2033],"executions":[132]}
{"kernel":"for_ever","grid":132,"block":32,"program":"endless"}
{"kernel":"at_once","grid":132,"block":32,"program":"short"}
{"call":"launch","kernel":"for_ever","op_duration_us":5}
{"call":"launch","kernel":"at_once","op_duration_us":5}
END
    run "$GRIDTIDE" run endless.jsonl -o endless.db
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"no cycles for kernel 'for_ever': program 'endless': given up after "* ]]
    grep -Eq '^ +1 .* at_once$' <<< "$output"
}

@test "explain: where a program does not say what would be ideal, nothing is said of it" {
    cat > plain.jsonl <<'END'
{"gridtide":1,"device":"h200"}
{"program":"p","warps":132,"warps_per_block":1,"sass":["LDG.E R0, desc[UR4][R2.64]","LDS R1, [R2]","EXIT"],"control":[2033,2033,2033],"executions":[132,132,132],"access":[[0,"global",32],[1,"shared",0,0,0,32]]}
{"kernel":"k","grid":132,"block":32,"program":"p"}
{"call":"launch","kernel":"k"}
END
    "$GRIDTIDE" run -q plain.jsonl -o plain.db
    run "$GRIDTIDE" explain plain.db k
    [ "$status" -eq 0 ]
    [ "$(grep -Ec 'inf |nan|coalescing|bank conflicts' <<< "$output")" = 0 ]
    sed 's/"global",32/"global",32,4/' plain.jsonl > ideal.jsonl
    "$GRIDTIDE" run -q ideal.jsonl -o ideal.db
    run "$GRIDTIDE" explain ideal.db k
    [[ "$output" == *"coalescing"*"8.00 times the sectors"* ]]
}

@test "kernels: mangled names are read as their source has them; CSV, JSON and the store have both" {
    cat > mangled.jsonl <<'END'
{"gridtide":1,"device":"h200"}
{"program":"p","warps":132,"warps_per_block":1,"sass":["EXIT"],"control":[2033],"executions":[132]}
{"kernel":"_ZN12_GLOBAL__N_16reduceIfLi512EEEvPKfS1_","grid":132,"block":32,"program":"p"}
{"kernel":"_ZN12_GLOBAL__N_110reduce_allIfEEvPKf","grid":132,"block":32,"program":"p"}
{"call":"launch","kernel":"_ZN12_GLOBAL__N_16reduceIfLi512EEEvPKfS1_","op_duration_us":5}
{"call":"launch","kernel":"_ZN12_GLOBAL__N_110reduce_allIfEEvPKf","op_duration_us":5}
END
    "$GRIDTIDE" run -q mangled.jsonl -o mangled.db
    "$GRIDTIDE" compare mangled.db | grep -Eq ' reduce<float, 512>$'
    "$GRIDTIDE" compare --format json mangled.db | jq -e '.kernels[0] |
        .name == "_ZN12_GLOBAL__N_16reduceIfLi512EEEvPKfS1_" and .short_name == "reduce<float, 512>"'
    "$GRIDTIDE" stats mangled.db | grep -Eq ' reduce<float, 512>$'
    "$GRIDTIDE" stats --format json mangled.db | jq -e '.kernels[0].short_name | startswith("reduce")'
    "$GRIDTIDE" stats --format csv mangled.db | grep -q '^kernels,_ZN.*,"reduce<float, 512>",'
    # The function's own name fits better than a part of one; a source's text fits too.
    run "$GRIDTIDE" explain mangled.db reduce
    [ "$status" -eq 0 ]
    [[ "$output" != *"launches fit"* ]]
    grep -Eq '^kernel +reduce<float, 512>$' <<< "$output"
    "$GRIDTIDE" explain mangled.db 'reduce_all<float>(float const*)' | grep -Eq '^launch +1$'
    "$GRIDTIDE" export perfetto mangled.db -o mangled.pftrace
    grep -qa '(anonymous namespace)::reduce<float, 512>(float const\*' mangled.pftrace
    "$GRIDTIDE" report -q mangled.db -o mangled
    grep -q 'title="void (anonymous namespace)::reduce&lt;float, 512&gt;(' mangled/index.html
    [ "$(sqlite3 mangled.db "SELECT count(*) FROM kernel WHERE name LIKE '\_Z%' ESCAPE '\'")" = 2 ]
}
