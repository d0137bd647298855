# --programs: kernels of a timeline take their programs from profiled launches.

setup() {
    command -v sqlite3 > /dev/null || skip "no sqlite3 program to look into stores with"
    cd "$BATS_TEST_TMPDIR"
    # As in kernels.bats: one block of 8 warps an SM; each warp makes 100 trips of 4 instructions.
    cat > profile.jsonl <<'END'
{"gridtide":1,"name":"profile","device":"h200"}
{"program":"p","compute_capability":90,"warps":1056,"warps_per_block":8,"registers":16,"l1_load_hit":0,"l2_read_hit":1,"l2_read_sectors":4224,"l2_write_sectors":4224,"sass":["MOV R0, RZ","FFMA R1, R1, R2, R1","IADD3 R0, R0, 0x1, RZ","ISETP.NE.AND P0, PT, R0, 0x64, PT","@P0 BRA 0x10","LDG.E R4, desc[UR4][R2.64]","STG.E desc[UR4][R2.64], R4","EXIT"],"control":[2036,2036,2036,2045,2037,1809,4081,2037],"executions":[1056,105600,105600,105600,105600,1056,1056,1056],"access":[[5,"global",4,4,1],[6,"global",4,4,1]]}
{"kernel":"_ZN1a4loopIiEEvPi","grid":132,"block":256,"registers":16,"program":"p"}
{"call":"launch","kernel":"_ZN1a4loopIiEEvPi","op_duration_us":2,"profile":{"cycles":4000,"sm_hz":2e9,"warp_instructions":426624,"l1_load_hit":0,"l2_read_hit":1,"dram_read_bytes":135168}}
END
    # Found by its bare name, and by its whole one at another grid.
    cat > timeline.jsonl <<'END'
{"gridtide":1,"name":"timeline","device":"h200"}
{"kernel":"loop","id":"same","grid":132,"block":256,"registers":16}
{"kernel":"void a::loop<int>(int*)","id":"larger","grid":1320,"block":256,"registers":128}
{"call":"launch","kernel":"same","stream":"s"}
{"call":"launch","kernel":"larger","stream":"s"}
{"call":"launch","kernel":"same","stream":"s"}
END
    # Found; with other blocks; not at all.
    cat > strangers.jsonl <<'END'
{"gridtide":1,"name":"strangers","device":"h200"}
{"kernel":"loop","id":"same","grid":132,"block":256,"registers":16,"duration_us":50}
{"kernel":"loop","id":"thin","grid":132,"block":64,"duration_us":60}
{"kernel":"void b::other(int)","grid":132,"block":256,"duration_us":70}
{"call":"launch","kernel":"same","stream":"s"}
{"call":"launch","kernel":"thin","stream":"s"}
{"call":"launch","kernel":"thin","stream":"s"}
{"call":"launch","kernel":"void b::other(int)","stream":"s"}
END
}

# ns_of STORE OP: the operation's simulated duration in ns.
ns_of() {
    sqlite3 "$1" "select (end_ps - start_ps) / 1000 from run_op join run using (run_id)
        where kind = 'simulated' and op_no = $2 order by run_id desc limit 1"
}

@test "programs: without a profile a kernel that nothing is known of is an error, with line and way out" {
    run "$GRIDTIDE" run timeline.jsonl -o run.db
    [ "$status" -eq 1 ]
    grep -q "timeline.jsonl:2: kernel 'loop': it has neither a duration nor a block cost" <<< "$output"
    [ ! -e run.db ]
}

@test "programs: kernels last as the profile's code says, scaled to their grid" {
    run "$GRIDTIDE" run --programs profile.jsonl timeline.jsonl -o run.db
    [ "$status" -eq 0 ]
    grep -q 'timeline: machine code for 2 of 2 kernels (3 of 3 launches), 1 of them profiled with another grid' \
        <<< "$output"
    [ "$(sqlite3 run.db "select count(*) from run_kernel join run using (run_id) where kind = 'simulated'")" = 3 ]
    [ "$(sqlite3 run.db "select count(*) from run where kind = 'measured'")" = 0 ]
    [ "$(ns_of run.db 0)" = "$(ns_of run.db 2)" ]
    # 10 blocks an SM, 2 at a time: 5 waves of some 2000 cycles.
    [ "$(ns_of run.db 1)" -gt $((3 * $(ns_of run.db 0))) ]
    # With caches as empty as the profiler's the same cycles as the profiled launch itself.
    "$GRIDTIDE" run -q profile.jsonl -o profile.db
    "$GRIDTIDE" run -q --programs profile.jsonl --set memory.l2_reuse_bytes=0 timeline.jsonl -o empty.db
    [ "$(sqlite3 empty.db 'select cycles from run_kernel where op_no = 0 order by run_id desc limit 1')" = \
      "$(sqlite3 profile.db "select cycles from run_kernel join run using (run_id)
          where kind = 'simulated' and op_no = 0")" ]
    grep -q programs=profile.jsonl <(sqlite3 run.db 'select options from run')
}

@test "programs: other registers or shared memory than the profile's are told" {
    sed -e '2s/"registers":16/"registers":16,"shared_bytes":512/' timeline.jsonl > other.jsonl
    run --separate-stderr "$GRIDTIDE" run --programs profile.jsonl other.jsonl -o run.db
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"warning: registers or shared memory differ from the profile's in 1 kernel(s), such as 'loop': \
16 registers and 512 bytes in the trace, 16 and 0 in the profile; the trace's values are used"* ]]
    run --separate-stderr "$GRIDTIDE" run --programs profile.jsonl timeline.jsonl -o run.db
    [[ "$stderr" != *"differ from the profile"* ]]
}

@test "programs: what no profile has is told and counted, and lasts as measured" {
    run "$GRIDTIDE" run --programs profile.jsonl --cost program strangers.jsonl -o run.db
    [ "$status" -eq 0 ]
    grep -q 'machine code for 1 of 3 kernels (1 of 4 launches), 0 of them' <<< "$output"
    grep -q "no machine code for kernel 'loop' with blocks of 64x1x1: it was profiled with other block" <<< "$output"
    grep -q "no machine code for kernel 'void b::other(int)' with blocks of 256x1x1: it was not profiled" <<< "$output"
    [ "$(ns_of run.db 0)" -lt 10000 ]
    [ "$(ns_of run.db 1)" = 60000 ]
    [ "$(ns_of run.db 3)" = 70000 ]
    [ "$(sqlite3 run.db "select count from warning where kind = 'no-program'")" = 3 ]
}

@test "programs: stated durations hold unless --cost program" {
    "$GRIDTIDE" run -q --programs profile.jsonl strangers.jsonl -o run.db
    [ "$(ns_of run.db 0)" = 50000 ]
}

@test "programs: recorded kernels last as a tracing profiler sees them" {
    # Typed: from block to block. Recorded: 0.6 us more, which the recorded gaps have less.
    for recorded in 0 1; do
        echo '{"gridtide":1,"name":"gaps","device":"h200"}'
        echo '{"kernel":"loop","grid":132,"block":256,"registers":16}'
        for i in $(seq 0 19); do
            times='"op_duration_us":50'
            [ $recorded = 0 ] || times="$times,\"start_us\":$((4 * i)),\"duration_us\":3,\"op_start_us\":$((20 + 51 * i))"
            echo "{\"call\":\"launch\",\"kernel\":\"loop\",\"stream\":\"s\",$times}"
        done
    done | awk '/gridtide/ { file = "gaps" n++ ".jsonl" } { print > file }'
    for kind in typed:gaps0 recorded:gaps1; do
        "$GRIDTIDE" run -q --programs profile.jsonl --cost program --set memory.l2_reuse_bytes=0 "${kind#*:}.jsonl" \
            -o "${kind%:*}.db"
    done
    [ $(($(ns_of recorded.db 7) - $(ns_of typed.db 7))) = 600 ]
}

@test "programs: a recorded launch finds in L2 what the one before it touched, a typed one what its trace left" {
    # From cold caches each launch reads 4224 sectors of DRAM.
    sed 's/"l2_read_hit":1,"l2_read_sectors"/"l2_read_hit":0,"dram_read_bytes":135168,"l2_read_sectors"/' \
        profile.jsonl > cold.jsonl
    for i in 0 1 2; do
        echo "{\"call\":\"launch\",\"kernel\":\"loop\",\"stream\":\"s\",\"op_duration_us\":5}"
    done > launches
    { head -n 2 timeline.jsonl | sed 's/"id":"same",//'; cat launches; } > typed.jsonl
    { head -n 2 typed.jsonl; awk '{ sub(/"op_d/, "\"op_start_us\":" 20 + 6 * NR ",&"); print }' launches; } \
        > recorded.jsonl
    slow="--set memory.dram_latency_cycles=1000 --set memory.dram_spread_cycles=0.001"
    "$GRIDTIDE" run -q --programs cold.jsonl --cost program $slow typed.jsonl -o typed.db
    "$GRIDTIDE" run -q --programs cold.jsonl --cost program $slow recorded.jsonl -o recorded.db
    "$GRIDTIDE" run -q --programs cold.jsonl --cost program $slow --set memory.l2_reuse_bytes=0 \
        recorded.jsonl -o never.db
    "$GRIDTIDE" run -q --programs cold.jsonl --cost program $slow --set memory.l2_reuse_bytes=0 typed.jsonl -o emptied.db
    [ "$(ns_of typed.db 0)" = "$(ns_of typed.db 1)" ]
    [ "$(ns_of typed.db 0)" -lt $(($(ns_of emptied.db 0) - 300)) ]
    # DRAM's latency less L2's, and no cold translation of addresses: 950 cycles.
    [ "$(ns_of recorded.db 1)" -lt $(($(ns_of recorded.db 0) - 300)) ]
    [ "$(ns_of recorded.db 1)" = "$(ns_of recorded.db 2)" ]
    [ "$(ns_of never.db 0)" = "$(ns_of never.db 1)" ]
}

@test "programs: several profiles, and what is none" {
    sed 's/4loop/4pool/g; s/"name":"profile"/"name":"second"/' profile.jsonl > second.jsonl
    sed 's/"loop"/"pool"/' timeline.jsonl > both.jsonl
    run "$GRIDTIDE" run --programs profile.jsonl --programs second.jsonl both.jsonl -o run.db
    [ "$status" -eq 0 ]
    grep -q 'machine code for 2 of 2 kernels' <<< "$output"
    run "$GRIDTIDE" run --programs strangers.jsonl timeline.jsonl -o none.db
    [ "$status" -eq 1 ]
    grep -q 'strangers.jsonl: no kernel has machine code' <<< "$output"
    run "$GRIDTIDE" run --programs absent.jsonl timeline.jsonl -o none.db
    [ "$status" -eq 1 ]
    grep -q absent.jsonl <<< "$output"
    [ ! -e none.db ]
}

@test "programs: a profile is not written over" {
    cp profile.jsonl before
    run "$GRIDTIDE" run --programs profile.jsonl timeline.jsonl -o ./profile.jsonl
    [ "$status" -eq 1 ]
    grep -q './profile.jsonl: would be written over what is read' <<< "$output"
    cmp before profile.jsonl
}

@test "programs: validate takes them, for each trace anew" {
    sed 's/"registers"/"runs":"stream","registers"/' timeline.jsonl > played.jsonl
    "$GRIDTIDE" run -q --programs profile.jsonl played.jsonl -o measured.db
    sqlite3 measured.db "update run set kind = 'measured'"
    run "$GRIDTIDE" validate --repeat 1 --measured measured.db --programs profile.jsonl played.jsonl \
        played.jsonl -o v.db
    [ "$status" -eq 0 ]
    [ "$(grep -c 'timeline: machine code for 2 of 2' <<< "$output")" = 2 ]
    # Two measured runs, of each two simulated ones (with the host's calls as measured, too), all the same.
    [ "$(sqlite3 v.db "select count(*), count(distinct end_ps - start_ps) from run_op where op_no = 1")" = '6|1' ]
    run "$GRIDTIDE" validate --repeat 1 --measured measured.db played.jsonl -o without.db
    [ "$status" -eq 1 ]
    grep -q 'neither a duration nor a block cost' <<< "$output"
    run "$GRIDTIDE" validate --cost sometimes --measured measured.db played.jsonl -o v.db
    [ "$status" -eq 2 ]
}

@test "programs: all kernels of the PyTorch samples are found by Kineto's names" {
    for sample in training-step:20:40 transformer-graph:6:72 prefetch:4:19; do
        IFS=: read -r name kernels launches <<< "$sample"
        run "$GRIDTIDE" run --programs "$GRIDTIDE_SOURCE/traces/profiles/samples.jsonl.zst" --cost program \
            "$GRIDTIDE_SOURCE/traces/samples/pytorch-$name.json.gz" -o sample.db
        [ "$status" -eq 0 ]
        grep -q "machine code for $kernels of $kernels kernels ($launches of $launches launches), 0 of" <<< "$output"
    done
}

@test "programs: a sweep takes them as whatif does, and goes on with the same alone" {
    "$GRIDTIDE" sweep -q timeline.jsonl --programs profile.jsonl --cost program --over launch-cost=2,9 -o sweep.db -f json > sweep.json
    for cost in 2 9; do
        "$GRIDTIDE" whatif -q timeline.jsonl --programs profile.jsonl --cost program --change launch-cost=$cost -f json > one.json
        predicted=$(sed -n 's/.*"predicted_us": \([0-9.]*\).*/\1/p' one.json)
        [ -n "$predicted" ]
        [ "$(sqlite3 sweep.db "select abs(predicted_us - $predicted) < 0.001 from sweep_grid where \"launch-cost\" = '$cost'")" = 1 ]
    done
    run "$GRIDTIDE" sweep -q timeline.jsonl --programs profile.jsonl --over launch-cost=2,9 -o sweep.db
    [ "$status" -eq 1 ]
    [[ "$output" == *"sweep.db"*option* ]] || { echo "$output"; false; }
}

# pair_of NUMBER: simulate that drawn pair on an H200 into pair.db; its operations: a, b, a and b, b and a, a and later b.
pair_of() {
    zstd -dcq "$GRIDTIDE_SOURCE/validate/recordings/pairs-h200-43.tar.zst" |
        tar -x --strip-components=1 "pairs-h200-43/pair-$1.jsonl" pairs-h200-43/profile.jsonl.zst
    "$GRIDTIDE" run -q "pair-$1.jsonl" --device h200 --programs profile.jsonl.zst --cost program -o pair.db
}

@test "programs: places of another kernel's blocks that get free first are filled first" {
    # 66 blocks of 4 warps behind 528 of 16 warps, four an SM: an H200 put them on 18 SMs, 4 to a place.
    pair_of 190
    sms=$(sqlite3 pair.db "SELECT count(DISTINCT sm) FROM run_block JOIN run USING (run_id)
        WHERE kind = 'simulated' AND op_no = 5 AND run_id = (SELECT max(run_id) FROM run)")
    [ "$sms" -ge 12 ] && [ "$sms" -le 27 ]
}

@test "programs: SMs with less of an uneven kernel's work take more of the next one's blocks" {
    # 99 blocks of 32 warps behind a Mandelbrot set on all SMs: an H200 put them on 69 SMs, one or two to each.
    pair_of 297
    sms=$(sqlite3 pair.db "SELECT count(DISTINCT sm) FROM run_block JOIN run USING (run_id)
        WHERE kind = 'simulated' AND op_no = 5 AND run_id = (SELECT max(run_id) FROM run)")
    [ "$sms" -ge 55 ] && [ "$sms" -le 90 ]
}

@test "programs: blocks of several waves that end each at its own time are all in the store" {
    # 1,024 blocks, 5 on an SM, beside a chain of multiply-adds.
    pair_of 111
    blocks=$(sqlite3 pair.db "SELECT sum(blocks) FROM run_block JOIN run USING (run_id)
        WHERE kind = 'simulated' AND op_no = 2 AND run_id = (SELECT max(run_id) FROM run)")
    [ "$blocks" -eq 1024 ]
}

@test "programs: an n-body makes no progress beside atomics that keep L2 busy" {
    # Alone 254 us, the atomics 71; together an H200 took 319.
    pair_of 99
    together=$(sqlite3 pair.db "SELECT (max(end_ps) - min(start_ps)) / 1000000 FROM run_block JOIN run USING (run_id)
        WHERE kind = 'simulated' AND op_no IN (4, 5) AND run_id = (SELECT max(run_id) FROM run)")
    [ "$together" -ge 290 ] && [ "$together" -le 340 ]
}
